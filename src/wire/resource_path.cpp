// SPDX-License-Identifier: MIT

#include "wire/resource_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "wire/json.h"

namespace belfry {
namespace {

constexpr std::size_t kSegmentsMax = 16;
constexpr std::size_t kSubscriptionBytesMax = 64;
constexpr std::size_t kGroupBytesMax = 90;
constexpr std::size_t kTokenIdBytesMax = 64;

bool is_letter(char c) {
  return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z');
}
bool is_digit(char c) {
  return '0' <= c && c <= '9';
}

enum class First { letter, letter_or_digit, no_point };

struct NameRule {
  std::string_view what;
  std::size_t bytes_max;
  std::string_view marks;  // allowed besides letters and digits
  First first;
  std::string_view said;
};

constexpr NameRule kSubscriptionRule{"subscription id", kSubscriptionBytesMax, "-_",
                                     First::letter_or_digit,
                                     "1 to 64 letters, digits, '-' and '_'"};
constexpr NameRule kGroupRule{"resource group name", kGroupBytesMax, "-_.()", First::no_point,
                              "1 to 90 letters, digits, '-', '_', '.', '(' and ')'"};
constexpr NameRule kCollectionRule{"job collection name", kNameBytesMax, "-_", First::letter,
                                   "a letter, then up to 99 letters, digits, '-' and '_'"};
constexpr NameRule kTokenRule{"token id", kTokenIdBytesMax, "", First::letter_or_digit,
                              "1 to 64 letters and digits"};
constexpr NameRule kJobRule{"job name", kNameBytesMax, "-_", First::letter_or_digit,
                            "a letter or digit, then up to 99 letters, digits, '-' and '_'"};

bool may_be_first(char c, First rule) {
  switch (rule) {
    case First::letter:
      return is_letter(c);
    case First::letter_or_digit:
      return is_letter(c) || is_digit(c);
    case First::no_point:
      return c != '.';
  }
  return false;
}

bool obeys(std::string_view name, const NameRule& rule) {
  if (name.empty() || name.size() > rule.bytes_max) return false;
  return may_be_first(name[0], rule.first) && std::all_of(name.begin(), name.end(), [&](char c) {
           return is_letter(c) || is_digit(c) || rule.marks.find(c) != std::string_view::npos;
         });
}

std::size_t count_segments(std::string_view path) {
  if (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/'));
}

// Of a longer path the end is shown: what is wrong is mostly there.
constexpr std::size_t kShownPathMax = 200;

Error no_such_route(std::string_view path) {
  if (const std::size_t count = count_segments(path); count > kSegmentsMax) {
    return {ErrorCode::no_such_route,
            fmt::format("Nothing is served at a path of {} segments; none has more than {}.", count,
                        kSegmentsMax),
            {}};
  }
  return {ErrorCode::no_such_route,
          fmt::format("Nothing is served at '{}'. Job collections are at /subscriptions/"
                      "{{subscription}}/resourceGroups/{{group}}/providers/Microsoft.Scheduler/"
                      "jobCollections/{{collection}}, jobs below it at jobs/{{job}}.",
                      path.size() <= kShownPathMax
                          ? std::string(path)
                          : "…" + std::string(path.substr(path.size() - kShownPathMax))),
          {}};
}

// The segments of a path, taken from the left.
class Segments {
 public:
  explicit Segments(std::vector<std::string> all) : all_(std::move(all)) {}

  bool at_end() const { return at_ == all_.size(); }

  // The next segment if it is this word, in any case.
  bool word(std::string_view wanted) {
    if (at_end() || !equal_ignoring_case(all_[at_], wanted)) return false;
    ++at_;
    return true;
  }

  // The next segment as a name; what is wrong with it is remembered for later, since a path
  // that leads nowhere is the greater fault.
  std::string name(const NameRule& rule) {
    if (at_end()) return {};
    std::string text = std::move(all_[at_++]);
    if (!obeys(text, rule) && !fault_) {
      fault_ = Error{ErrorCode::invalid,
                     fmt::format("The {} '{}' is not allowed: it must be {}.", rule.what,
                                 text.substr(0, kShownValueMax), rule.said),
                     {}};
    }
    return text;
  }

  const std::optional<Error>& fault() const { return fault_; }

 private:
  std::vector<std::string> all_;
  std::size_t at_ = 0;
  std::optional<Error> fault_;
};

std::optional<std::vector<std::string>> split(std::string_view path) {
  if (path.empty() || path.front() != '/') return std::nullopt;
  const std::size_t count = count_segments(path);
  if (count > kSegmentsMax) return std::nullopt;
  std::vector<std::string> segments;
  segments.reserve(count);
  if (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  while (!path.empty()) {
    path.remove_prefix(1);
    const auto end = std::min(path.find('/'), path.size());
    auto segment = percent_decoded(path.substr(0, end));
    if (!segment || segment->empty()) return std::nullopt;
    segments.push_back(std::move(*segment));
    path.remove_prefix(end);
  }
  return segments;
}

// What follows …/jobCollections/{collection}.
std::optional<Resource> match_below_collection(Segments& rest, ResourcePath& path) {
  if (rest.at_end()) return Resource::collection;
  if (rest.word("enable")) return Resource::collection_enable;
  if (rest.word("disable")) return Resource::collection_disable;
  if (!rest.word("jobs")) return std::nullopt;
  if (rest.at_end()) return Resource::jobs;
  path.key.name = rest.name(kJobRule);
  if (rest.at_end()) return Resource::job;
  if (rest.word("enable")) return Resource::job_enable;
  if (rest.word("disable")) return Resource::job_disable;
  if (rest.word("run")) return Resource::job_run;
  if (rest.word("preflight")) return Resource::job_preflight;
  if (rest.word("history")) return Resource::job_history;
  return std::nullopt;
}

// What follows /belfry.
std::optional<Resource> match_own(Segments& rest, ResourcePath& path) {
  if (rest.word("audit")) return Resource::audit;
  if (!rest.word("tokens")) return std::nullopt;
  if (rest.at_end()) return Resource::tokens;
  path.token = rest.name(kTokenRule);
  return Resource::token;
}

std::optional<Resource> match(Segments& rest, ResourcePath& path) {
  CollectionKey& key = path.key.collection;
  if (rest.word("belfry")) return match_own(rest, path);
  if (!rest.word("subscriptions")) return std::nullopt;
  key.subscription = rest.name(kSubscriptionRule);
  const bool grouped = rest.word("resourceGroups");
  if (grouped) key.resource_group = rest.name(kGroupRule);
  if (!rest.word("providers") || !rest.word("Microsoft.Scheduler")) return std::nullopt;
  if (rest.at_end() && !grouped) return Resource::provider;
  if (!rest.word("jobCollections")) return std::nullopt;
  if (rest.at_end()) {
    return grouped ? Resource::collections_of_group : Resource::collections_of_subscription;
  }
  if (!grouped) return std::nullopt;
  key.name = rest.name(kCollectionRule);
  return match_below_collection(rest, path);
}

// False where the segments are no scope's.
bool match_scope(Segments& rest, Scope& scope) {
  if (rest.at_end()) return true;
  if (!rest.word("subscriptions") || rest.at_end()) return false;
  scope.subscription = rest.name(kSubscriptionRule);
  if (rest.at_end()) return true;
  if (!rest.word("resourceGroups") || rest.at_end()) return false;
  scope.resource_group = rest.name(kGroupRule);
  if (rest.at_end()) return true;
  if (!rest.word("providers") || !rest.word("Microsoft.Scheduler")) return false;
  if (!rest.word("jobCollections") || rest.at_end()) return false;
  scope.collection = rest.name(kCollectionRule);
  return rest.at_end();
}

std::optional<int> hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if ('a' <= c && c <= 'f') return c - 'a' + 10;
  if ('A' <= c && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace

std::optional<std::string> percent_decoded(std::string_view text) {
  if (text.find('%') == std::string_view::npos) return std::string(text);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) return std::nullopt;
    const auto high = hex_digit(text[i + 1]);
    const auto low = hex_digit(text[i + 2]);
    if (!high || !low || (*high == 0 && *low == 0)) return std::nullopt;
    out += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return out;
}

Result<ResourcePath> parse_resource_path(std::string_view path) {
  auto segments = split(path);
  if (!segments) return no_such_route(path);
  Segments rest(std::move(*segments));
  ResourcePath out;
  const auto resource = match(rest, out);
  if (!resource || !rest.at_end()) return no_such_route(path);
  if (rest.fault()) return *rest.fault();
  out.resource = *resource;
  return out;
}

Result<Scope> parse_scope(std::string_view text) {
  auto segments = text == "/" ? std::optional(std::vector<std::string>()) : split(text);
  Segments rest(segments ? std::move(*segments) : std::vector<std::string>());
  Scope scope;
  if (!segments || !match_scope(rest, scope)) {
    return Error{ErrorCode::invalid,
                 fmt::format("'{}' is no scope: it must be /, /subscriptions/{{subscription}}, "
                             "/subscriptions/{{subscription}}/resourceGroups/{{group}} or the id "
                             "of a job collection.",
                             text.substr(0, kShownValueMax)),
                 {}};
  }
  if (rest.fault()) return *rest.fault();
  return scope;
}

std::string scope_id(const Scope& scope) {
  if (scope.subscription.empty()) return "/";
  std::string id = "/subscriptions/" + scope.subscription;
  if (!scope.resource_group.empty()) id += "/resourceGroups/" + scope.resource_group;
  if (scope.collection.empty()) return id;
  return collection_id({scope.subscription, scope.resource_group, scope.collection});
}

std::string collection_id(const CollectionKey& key) {
  return "/subscriptions/" + key.subscription + "/resourceGroups/" + key.resource_group +
         "/providers/Microsoft.Scheduler/jobCollections/" + key.name;
}

std::string job_id(const JobKey& key) {
  return collection_id(key.collection) + "/jobs/" + key.name;
}

}  // namespace belfry
