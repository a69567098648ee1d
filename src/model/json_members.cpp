// SPDX-License-Identifier: MIT

#include "model/json_members.h"

#include <boost/json/basic_parser_impl.hpp>
#include <set>
#include <vector>

namespace belfry {
namespace {

namespace json = boost::json;

// The names that the open objects have had, one behind the other. Most objects have few, and
// comparing those is quicker than keeping them in order.
class Names {
 public:
  void open() { objects_.push_back({ends_.size(), {}}); }

  void close() {
    ends_.resize(objects_.back().first);
    letters_.resize(end_of_last());
    objects_.pop_back();
  }

  void append(std::string_view part) { letters_ += part; }

  // The name is complete. False if the object had it.
  bool end() {
    Object& object = objects_.back();
    const std::string_view name = std::string_view(letters_).substr(end_of_last());
    const bool is_new =
        ends_.size() - object.first < kFew ? !among(object.first, name) : add_to_many(object, name);
    ends_.push_back(letters_.size());
    return is_new;
  }

  // The one that was ended last.
  std::string last() const { return std::string(name_at(ends_.size() - 1)); }

 private:
  static constexpr std::size_t kFew = 16;
  struct Object {
    std::size_t first;           // where its names begin
    std::set<std::string> many;  // all of them, once they are more than a few
  };

  std::size_t end_of_last() const { return ends_.empty() ? 0 : ends_.back(); }

  std::string_view name_at(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(letters_).substr(begin, ends_[i] - begin);
  }

  bool among(std::size_t first, std::string_view name) const {
    for (std::size_t i = first; i < ends_.size(); ++i) {
      if (name_at(i) == name) return true;
    }
    return false;
  }

  bool add_to_many(Object& object, std::string_view name) {
    if (object.many.empty()) {
      for (std::size_t i = object.first; i < ends_.size(); ++i) object.many.emplace(name_at(i));
    }
    return object.many.emplace(name).second;
  }

  std::vector<Object> objects_;
  std::vector<std::size_t> ends_;  // of each name among the letters
  std::string letters_;
};

// Watches the text go by and keeps, for each open object, the names it has had.
struct DuplicateFinder {
  using Flag = json::error_code;
  static constexpr std::size_t max_object_size = SIZE_MAX;
  static constexpr std::size_t max_array_size = SIZE_MAX;
  static constexpr std::size_t max_key_size = SIZE_MAX;
  static constexpr std::size_t max_string_size = SIZE_MAX;

  Names names;
  std::optional<std::string> duplicate;

  bool on_key_part(json::string_view part, std::size_t, Flag&) {
    names.append({part.data(), part.size()});
    return true;
  }
  bool on_key(json::string_view part, std::size_t, Flag&) {
    names.append({part.data(), part.size()});
    if (!names.end() && !duplicate) duplicate = names.last();
    return true;
  }
  bool on_object_begin(Flag&) {
    names.open();
    return true;
  }
  bool on_object_end(std::size_t, Flag&) {
    names.close();
    return true;
  }

  bool on_document_begin(Flag&) { return true; }
  bool on_document_end(Flag&) { return true; }
  bool on_array_begin(Flag&) { return true; }
  bool on_array_end(std::size_t, Flag&) { return true; }
  bool on_string_part(json::string_view, std::size_t, Flag&) { return true; }
  bool on_string(json::string_view, std::size_t, Flag&) { return true; }
  bool on_number_part(json::string_view, Flag&) { return true; }
  bool on_int64(std::int64_t, json::string_view, Flag&) { return true; }
  bool on_uint64(std::uint64_t, json::string_view, Flag&) { return true; }
  bool on_double(double, json::string_view, Flag&) { return true; }
  bool on_bool(bool, Flag&) { return true; }
  bool on_null(Flag&) { return true; }
  bool on_comment_part(json::string_view, Flag&) { return true; }
  bool on_comment(json::string_view, Flag&) { return true; }
};

}  // namespace

std::optional<std::string> member_given_twice(std::string_view text,
                                              const json::parse_options& options) {
  json::basic_parser<DuplicateFinder> parser(options);
  json::error_code error;
  parser.write_some(false, text.data(), text.size(), error);
  return parser.handler().duplicate;
}

}  // namespace belfry
