// SPDX-License-Identifier: MIT
//
// Reading JSON that a stranger wrote. parse_json() turns text into a value or says where it
// is wrong. ObjectReader takes the members of an object one by one and writes down, in a
// Reading, everything that breaks a rule (with its path) and everything nobody asked for, so
// that a person learns all of it at once.

#pragma once

#include <array>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/result.h"

namespace belfry {

inline constexpr std::size_t kJsonDepthMax = 32;
inline constexpr std::size_t kReadingErrorsMax = 20;
inline constexpr std::size_t kReadingIgnoredMax = 20;
inline constexpr std::size_t kShownValueMax = 60;

// strict is for requests; relaxed allows comments and trailing commas, for files that people
// write; own is what we wrote ourselves, and is not searched for members given twice.
enum class JsonDialect { strict, relaxed, own };

// Refuses nesting beyond kJsonDepthMax and members that are given twice. `memory` is where the
// value lives, and must outlive it.
Result<boost::json::value> parse_json(std::string_view text, JsonDialect dialect,
                                      boost::json::storage_ptr memory = {});

// Memory for a value that is read and dropped: taken in one piece, given back in one piece.
class JsonMemory {
 public:
  boost::json::storage_ptr get() { return &resource_; }

 private:
  unsigned char first_[8 * 1024];
  boost::json::monotonic_resource resource_{first_, sizeof(first_)};
};

// As many characters from the beginning of a UTF-8 text as fit into so many bytes.
std::string_view whole_characters(std::string_view text, std::size_t bytes_max);

// The value as a message may show it: compact, and cut at kShownValueMax.
std::string shown(const boost::json::value& value);

// Ends an error about a size that the operator may change.
inline constexpr std::string_view kBodyMaxDecides =
    " The server's setting body-max decides how many.";

struct Reading {
  std::size_t body_bytes_max = 8 * 1024;  // of an action's request; an operator may allow more
  std::vector<Error> errors = {};         // the first kReadingErrorsMax
  std::vector<std::string> ignored = {};  // paths of members nobody asked for

  void fail(std::string path, std::string message);
  void ignore(std::string path);
};

// A name on the wire and the value it stands for.
template <typename T>
using Spelling = std::pair<std::string_view, T>;

class ObjectReader {
 public:
  // Both must outlive the reader.
  ObjectReader(const boost::json::object& object, std::string path, Reading& reading);

  // What was not asked for until now is ignored, and said.
  ~ObjectReader();
  ObjectReader(ObjectReader&&) noexcept;
  ObjectReader& operator=(ObjectReader&&) = delete;

  std::string path_of(std::string_view name) const;

  // The member by name, in any case; null counts as absent.
  const boost::json::value* find(std::string_view name);

  // Each gives nothing when the member is absent or wrong; when wrong, it also says so.
  std::optional<std::string> text(std::string_view name, std::size_t bytes_max,
                                  std::string_view who_decides = "");
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t min, std::int64_t max);
  std::optional<bool> boolean(std::string_view name);
  // The name must outlive the reader that is given.
  std::optional<ObjectReader> object(std::string_view name);

  // Spellings are compared without regard to case.
  template <typename T, std::size_t N>
  std::optional<T> choice(std::string_view name, const Spelling<T> (&spellings)[N]);

  // The member is read elsewhere, or known and of no use: do not report it.
  void skip(std::string_view name) { static_cast<void>(find(name)); }

  // The member counts as absent: it is reported if it is there and is not null.
  void skip_null(std::string_view name);

  // For rules the caller checks: what is wrong with the member `name`.
  void fail(std::string_view name, std::string message);

  // The members nobody has asked for yet; whoever asks for them takes them over.
  void skip_rest();

 private:
  // For choice(), where the member is neither absent nor one of the spellings.
  void fail_choice(std::string_view name, const boost::json::value& value,
                   const std::vector<std::string_view>& spellings);

  static constexpr std::size_t kReaderDepthMax = 8;  // of readers that come from one another
  using Asked = std::uint64_t;

  bool was_asked(std::size_t position) const;
  void note_asked(std::size_t position);

  // The path is made of its parts only when somebody has to be told: nothing is wrong with most.
  const boost::json::object* object_;
  std::string root_path_;
  std::array<std::string_view, kReaderDepthMax> names_{};  // from the root to here
  std::size_t depth_ = 0;
  Reading* reading_;
  Asked asked_first_ = 0;          // by position in the object, a bit for each
  std::vector<bool> asked_later_;  // the positions for which there is no bit
};

// An element of an array, or the bare value that may stand for an array of one. Its path is made
// only for an error.
struct Element {
  const boost::json::value* value;
  const std::string* array_path;
  std::optional<std::size_t> index;  // none: the bare value

  std::string path() const;
};
// At most `max` elements; more is an error. `path` must outlive them.
std::vector<Element> elements_of(const boost::json::value& value, const std::string& path,
                                 std::size_t max, Reading& reading);

std::optional<std::int64_t> integer_of(const boost::json::value& value);

template <typename T, std::size_t N>
std::optional<T> ObjectReader::choice(std::string_view name, const Spelling<T> (&spellings)[N]) {
  const boost::json::value* value = find(name);
  if (value == nullptr) return std::nullopt;
  const auto* text = value->if_string();
  for (const auto& spelling : spellings) {
    if (text != nullptr && equal_ignoring_case(*text, spelling.first)) return spelling.second;
  }
  std::vector<std::string_view> names;
  for (const auto& spelling : spellings) names.push_back(spelling.first);
  fail_choice(name, *value, names);
  return std::nullopt;
}

}  // namespace belfry
