// SPDX-License-Identifier: MIT
//
// JsonWriter writes JSON as text, member by member. A job or a page of history goes straight into
// the answer: a tree of it (boost::json) would be built, walked and taken down again for nothing.
//
// Names and values are separated as they come; whoever opens an object or an array closes it, and
// object() and array() do so by themselves.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/instant.h"

namespace belfry {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { text_ += '}'; }
  void begin_array() { open('['); }
  void end_array() { text_ += ']'; }

  // Of the member whose value comes next. A name in the program's text is written as it stands:
  // it must have nothing in it that JSON escapes.
  void name(std::string_view name);
  template <std::size_t size>
  void name(const char (&literal)[size]) {
    separate();
    text_ += '"';
    text_.append(literal, size - 1);
    text_.append("\":", 2);
  }

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(std::int64_t number);
  void value(int number) { value(static_cast<std::int64_t>(number)); }
  void value(bool flag);
  void value(double number);
  void value(Instant instant);
  void null();

  // What is JSON already.
  void json(std::string_view text);
  // A part of something that is JSON with what comes before and after it.
  void part(std::string_view text) { text_ += text; }
  // The same, written by the caller: to where room() says, as far as it then tells ends_at().
  char* room(std::size_t bytes_max) {
    const std::size_t size = text_.size();
    text_.resize(size + bytes_max);
    return text_.data() + size;
  }
  void ends_at(const char* end) { text_.resize(static_cast<std::size_t>(end - text_.data())); }

  template <typename Name, typename Value>
  void member(const Name& its_name, const Value& its_value) {
    name(its_name);
    value(its_value);
  }

  // Calls `body`, which writes the members or the elements.
  template <typename Name, typename Body>
  void object(const Name& its_name, Body body) {
    name(its_name);
    object(body);
  }
  template <typename Body>
  void object(Body body) {
    begin_object();
    body();
    end_object();
  }
  template <typename Name, typename Body>
  void array(const Name& its_name, Body body) {
    name(its_name);
    begin_array();
    body();
    end_array();
  }

  // About so much is to come.
  void reserve(std::size_t bytes) { text_.reserve(text_.size() + bytes); }
  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void separate();
  void open(char bracket);
  void quote(std::string_view text);

  std::string text_;
};

}  // namespace belfry
