// SPDX-License-Identifier: MIT
//
// JsonWriter writes JSON as text, member by member. A job or a page of history goes straight into
// the answer: a tree of it (boost::json) would be built, walked and taken down again for nothing.
//
// Names and values are separated as they come; whoever opens an object or an array closes it, and
// object() and array() do so by themselves.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace belfry {

class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { text_ += '}'; }
  void begin_array() { open('['); }
  void end_array() { text_ += ']'; }

  // Of the member whose value comes next.
  void name(std::string_view name);

  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(std::int64_t number);
  void value(int number) { value(static_cast<std::int64_t>(number)); }
  void value(bool flag);
  void value(double number);
  void null();

  // What is JSON already.
  void json(std::string_view text);

  template <typename Value>
  void member(std::string_view its_name, const Value& its_value) {
    name(its_name);
    value(its_value);
  }

  // Calls `body`, which writes the members or the elements.
  template <typename Body>
  void object(std::string_view its_name, Body body) {
    name(its_name);
    object(body);
  }
  template <typename Body>
  void object(Body body) {
    begin_object();
    body();
    end_object();
  }
  template <typename Body>
  void array(std::string_view its_name, Body body) {
    name(its_name);
    begin_array();
    body();
    end_array();
  }

  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void separate();
  void open(char bracket);
  void quote(std::string_view text);

  std::string text_;
};

}  // namespace belfry
