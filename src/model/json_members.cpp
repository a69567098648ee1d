// SPDX-License-Identifier: MIT

#include "model/json_members.h"

#include <boost/json/basic_parser_impl.hpp>
#include <set>
#include <vector>

namespace belfry {
namespace {

namespace json = boost::json;

// Watches the text go by and keeps, for each open object, the names it has had.
struct DuplicateFinder {
  using Flag = json::error_code;
  static constexpr std::size_t max_object_size = SIZE_MAX;
  static constexpr std::size_t max_array_size = SIZE_MAX;
  static constexpr std::size_t max_key_size = SIZE_MAX;
  static constexpr std::size_t max_string_size = SIZE_MAX;

  std::vector<std::set<std::string>> open;
  std::string name;
  std::optional<std::string> duplicate;

  bool on_key_part(json::string_view part, std::size_t, Flag&) {
    name.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, Flag&) {
    name.append(part.data(), part.size());
    if (!open.back().insert(name).second && !duplicate) duplicate = name;
    name.clear();
    return true;
  }
  bool on_object_begin(Flag&) {
    open.emplace_back();
    return true;
  }
  bool on_object_end(std::size_t, Flag&) {
    open.pop_back();
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
