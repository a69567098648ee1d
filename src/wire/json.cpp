// SPDX-License-Identifier: MIT

#include "wire/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value_stack.hpp>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/assert.h"
#include "model/json_members.h"

namespace belfry {
namespace {

namespace json = boost::json;

json::parse_options options_for(JsonDialect dialect) {
  json::parse_options options;
  options.max_depth = kJsonDepthMax;
  options.allow_comments = dialect == JsonDialect::relaxed;
  options.allow_trailing_commas = dialect == JsonDialect::relaxed;
  return options;
}

// Makes a value as Boost's own parser does, but for one thing: that one reads a number that is no
// integer only nearly, and what it is then written as reads as its neighbour.
struct ValueBuilder {
  using Flag = json::error_code;
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  json::value_stack stack;
  std::size_t members = 0;  // of all objects, as the text has them

  template <std::size_t size>
  explicit ValueBuilder(unsigned char (&buffer)[size]) : stack({}, buffer, size) {}

  bool on_double(double nearly, json::string_view text, Flag&) {
    // Where it is beyond what a double holds, zero or infinity stays.
    std::from_chars(text.data(), text.data() + text.size(), nearly);
    return stack.push_double(nearly), true;
  }
  bool on_object_end(std::size_t size, Flag&) {
    members += size;
    return stack.push_object(size), true;
  }
  bool on_array_end(std::size_t size, Flag&) { return stack.push_array(size), true; }
  bool on_key_part(json::string_view part, std::size_t, Flag&) {
    return stack.push_chars(part), true;
  }
  bool on_key(json::string_view part, std::size_t, Flag&) { return stack.push_key(part), true; }
  bool on_string_part(json::string_view part, std::size_t, Flag&) {
    return stack.push_chars(part), true;
  }
  bool on_string(json::string_view part, std::size_t, Flag&) {
    return stack.push_string(part), true;
  }
  bool on_int64(std::int64_t number, json::string_view, Flag&) {
    return stack.push_int64(number), true;
  }
  bool on_uint64(std::uint64_t number, json::string_view, Flag&) {
    return stack.push_uint64(number), true;
  }
  bool on_bool(bool flag, Flag&) { return stack.push_bool(flag), true; }
  bool on_null(Flag&) { return stack.push_null(), true; }

  bool on_document_begin(Flag&) { return true; }
  bool on_document_end(Flag&) { return true; }
  bool on_object_begin(Flag&) { return true; }
  bool on_array_begin(Flag&) { return true; }
  bool on_number_part(json::string_view, Flag&) { return true; }
  bool on_comment_part(json::string_view, Flag&) { return true; }
  bool on_comment(json::string_view, Flag&) { return true; }
};

// Of all objects in the value.
std::size_t count_members(const json::value& value) {
  std::size_t count = 0;
  if (const auto* object = value.if_object()) {
    count = object->size();
    for (const auto& member : *object) count += count_members(member.value());
  } else if (const auto* array = value.if_array()) {
    for (const json::value& element : *array) count += count_members(element);
  }
  return count;
}

Error malformed(std::string_view text, std::size_t position, const std::string& what) {
  const auto before = text.substr(0, std::min(position, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const auto column = before.size() - (before.rfind('\n') + 1) + 1;
  return {ErrorCode::invalid,
          fmt::format("The JSON is malformed at line {}, column {}: {}.", line, column, what),
          {}};
}

std::string_view kind_of(const json::value& value) {
  switch (value.kind()) {
    case json::kind::object:
      return "an object";
    case json::kind::array:
      return "an array";
    case json::kind::string:
      return "a string";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::null:
      return "null";
    default:
      return "a number";
  }
}

// The member by that very name; else the first that differs by case alone.
const json::key_value_pair* find_member(const json::object& object, std::string_view name) {
  const json::key_value_pair* alike = nullptr;
  for (const auto& member : object) {
    const std::string_view key = member.key();
    if (key.size() != name.size()) continue;
    if (key == name) return &member;
    if (alike == nullptr && equal_ignoring_case(key, name)) alike = &member;
  }
  return alike;
}

std::string expected(std::string_view what, const json::value& value) {
  return fmt::format("must be {}; it is {}: {}.", what, kind_of(value), shown(value));
}

}  // namespace

Result<json::value> parse_json(std::string_view text, JsonDialect dialect,
                               json::storage_ptr memory) {
  json::error_code error;
  unsigned char parsing[4 * 1024];  // for what is not finished yet; more is taken if need be
  json::basic_parser<ValueBuilder> parser(options_for(dialect), parsing);
  json::value_stack& stack = parser.handler().stack;
  stack.reset(std::move(memory));
  const std::size_t consumed = parser.write_some(false, text.data(), text.size(), error);
  if (error) return malformed(text, consumed, error.message());
  const auto rest = text.find_first_not_of(" \t\r\n", consumed);
  if (rest != std::string_view::npos) {
    return malformed(text, rest, "something follows the end of the value");
  }
  json::value value = stack.release();
  // Of members that are given twice the value has one. Which they are is looked for only then.
  if (dialect == JsonDialect::own || count_members(value) == parser.handler().members) return value;
  const auto name = member_given_twice(text, options_for(dialect));
  ASSERT(name);
  return Error{ErrorCode::invalid, fmt::format("The member '{}' is given twice.", *name), *name};
}

// Not in the middle of a UTF-8 sequence: its later bytes all begin with the bits 10.
std::string_view whole_characters(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

std::string shown(const json::value& value) {
  std::string text = json::serialize(value);
  if (text.size() <= kShownValueMax) return text;
  return std::string(whole_characters(text, kShownValueMax)) + "…";
}

void Reading::fail(std::string path, std::string message) {
  if (errors.size() == kReadingErrorsMax) return;
  errors.push_back({ErrorCode::invalid, std::move(message), std::move(path)});
}

void Reading::ignore(std::string path) {
  if (ignored.size() < kReadingIgnoredMax) ignored.push_back(std::move(path));
}

std::optional<std::int64_t> integer_of(const json::value& value) {
  if (const auto* number = value.if_int64()) return *number;
  // 5.0 and 5e0 are fives too; beyond 2^53 a double no longer knows which integer it is.
  constexpr double kExact = 9007199254740992.0;
  const auto* real = value.if_double();
  if (real == nullptr || std::trunc(*real) != *real || std::abs(*real) > kExact) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*real);
}

std::vector<Element> elements_of(const json::value& value, const std::string& path, std::size_t max,
                                 Reading& reading) {
  const auto* array = value.if_array();
  if (array == nullptr) return {{&value, &path, std::nullopt}};
  if (array->size() > max) {
    reading.fail(path, fmt::format("has {} elements; at most {} are allowed.", array->size(), max));
    return {};
  }
  std::vector<Element> elements;
  elements.reserve(array->size());
  for (std::size_t i = 0; i < array->size(); ++i) elements.push_back({&(*array)[i], &path, i});
  return elements;
}

std::string Element::path() const {
  return index ? fmt::format("{}[{}]", *array_path, *index) : *array_path;
}

ObjectReader::ObjectReader(const json::object& object, std::string path, Reading& reading)
    : object_(&object), root_path_(std::move(path)), reading_(&reading) {}

ObjectReader::ObjectReader(ObjectReader&& other) noexcept
    : object_(std::exchange(other.object_, nullptr)),
      root_path_(std::move(other.root_path_)),
      names_(other.names_),
      depth_(other.depth_),
      reading_(other.reading_),
      asked_first_(other.asked_first_),
      asked_later_(std::move(other.asked_later_)) {}

ObjectReader::~ObjectReader() {
  if (object_ == nullptr) return;
  for (std::size_t i = 0; i < object_->size(); ++i) {
    if (!was_asked(i)) reading_->ignore(path_of(object_->begin()[i].key()));
  }
}

bool ObjectReader::was_asked(std::size_t position) const {
  constexpr std::size_t kBits = std::numeric_limits<Asked>::digits;
  if (position < kBits) return (asked_first_ >> position & 1) != 0;
  return position - kBits < asked_later_.size() && asked_later_[position - kBits];
}

void ObjectReader::note_asked(std::size_t position) {
  constexpr std::size_t kBits = std::numeric_limits<Asked>::digits;
  if (position < kBits) {
    asked_first_ |= Asked{1} << position;
    return;
  }
  asked_later_.resize(object_->size() - kBits);
  asked_later_[position - kBits] = true;
}

std::string ObjectReader::path_of(std::string_view name) const {
  std::string path = root_path_;
  const auto add = [&path](std::string_view part) {
    if (!path.empty()) path += '.';
    path += part;
  };
  for (std::size_t i = 0; i < depth_; ++i) add(names_[i]);
  add(name);
  return path;
}

const json::value* ObjectReader::find(std::string_view name) {
  const json::key_value_pair* const member = find_member(*object_, name);
  if (member == nullptr) return nullptr;
  note_asked(static_cast<std::size_t>(member - object_->begin()));
  return member->value().is_null() ? nullptr : &member->value();
}

void ObjectReader::skip_null(std::string_view name) {
  const json::key_value_pair* const member = find_member(*object_, name);
  if (member != nullptr && member->value().is_null()) skip(name);
}

std::optional<std::string> ObjectReader::text(std::string_view name, std::size_t bytes_max,
                                              std::string_view who_decides) {
  const json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto* string = value->if_string();
  if (string == nullptr) {
    fail(name, expected("a string", *value));
    return std::nullopt;
  }
  if (string->size() > bytes_max) {
    fail(name, fmt::format("is {} bytes long; at most {} are allowed.{}", string->size(), bytes_max,
                           who_decides));
    return std::nullopt;
  }
  return std::string(*string);
}

std::optional<std::int64_t> ObjectReader::integer(std::string_view name, std::int64_t min,
                                                  std::int64_t max) {
  const json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto number = integer_of(*value);
  if (!number || *number < min || *number > max) {
    fail(name, fmt::format("must be an integer from {} to {}; it is {}.", min, max, shown(*value)));
    return std::nullopt;
  }
  return number;
}

std::optional<bool> ObjectReader::boolean(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  if (!value->is_bool()) {
    fail(name, expected("true or false", *value));
    return std::nullopt;
  }
  return value->get_bool();
}

std::optional<ObjectReader> ObjectReader::object(std::string_view name) {
  const json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto* object = value->if_object();
  if (object == nullptr) {
    // Not what it is instead: secrets stand in objects, and may stand in what was meant as one.
    fail(name, fmt::format("must be an object; it is {}.", kind_of(*value)));
    return std::nullopt;
  }
  ASSERT(depth_ < kReaderDepthMax);
  ObjectReader reader(*object, root_path_, *reading_);
  reader.names_ = names_;
  reader.names_[depth_] = name;
  reader.depth_ = depth_ + 1;
  return reader;
}

void ObjectReader::fail(std::string_view name, std::string message) {
  reading_->fail(path_of(name), std::move(message));
}

void ObjectReader::skip_rest() {
  for (std::size_t i = 0; i < object_->size(); ++i) note_asked(i);
}

void ObjectReader::fail_choice(std::string_view name, const json::value& value,
                               const std::vector<std::string_view>& spellings) {
  fail(name, fmt::format("must be one of {}; it is {}.", fmt::join(spellings, ", "), shown(value)));
}

}  // namespace belfry
