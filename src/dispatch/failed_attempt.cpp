// SPDX-License-Identifier: MIT

#include "dispatch/failed_attempt.h"

#include <fmt/format.h>

#include <algorithm>

#include "dispatch/http_messages.h"

namespace belfry {
namespace {

constexpr std::string_view kAnswered = " Action - Response from host '";
constexpr std::string_view kFailed = "' failed: ";
constexpr std::string_view kHeaders = " Response Headers: ";
constexpr std::string_view kBody = " Body: ";
constexpr std::string_view kNotSent = "NotSent";  // the message says why

// What stands between `begin` and `end`, from `from` on; empty where either is missing.
std::string_view between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t first = text.find(begin);
  if (first == std::string_view::npos) return {};
  text.remove_prefix(first + begin.size());
  const std::size_t last = text.find(end);
  return last == std::string_view::npos ? text : text.substr(0, last);
}

std::string status_of(std::string_view message) {
  const std::string_view head = message.substr(0, message.find(kHeaders));
  const std::string_view word = head.find(kAnswered) == std::string_view::npos
                                    ? between(head, kFailed, " ")
                                    : between(head, "': '", "'");
  if (word.empty()) return std::string(kNotSent);
  const std::optional<int> status = status_named(word);
  return status ? fmt::to_string(*status) : std::string(word);
}

std::string reason_of(std::string_view message) {
  const std::size_t headers = std::min(message.find(kHeaders), message.size());
  std::string reason(message.substr(0, headers));
  const std::size_t body = message.find(kBody, headers);
  if (body != std::string_view::npos) reason += message.substr(body);
  return reason;
}

// Nothing in it can end a header, or be taken for what it is not.
std::string visible(std::string text) {
  text.resize(std::min(text.size(), kFailedReasonBytesMax));
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

}  // namespace

HttpHeaders failed_attempt_headers(const Attempt& attempt, const std::optional<HistoryEntry>& row,
                                   const SecretMask& mask) {
  const std::string instant = format_instant(attempt.occurrence.scheduled_for);
  const std::string tag = occurrence_tag(attempt.job, attempt.occurrence.seq);
  HttpHeaders headers = {{"x-belfry-failed-occurrence", instant + ' ' + tag}};
  if (!row) return headers;
  // Rows of an older Belfry may hold what a target repeated.
  const std::string message = mask.masked(row->message);
  headers.emplace_back("x-belfry-failed-status", visible(status_of(message)));
  headers.emplace_back("x-belfry-failed-reason", visible(reason_of(message)));
  return headers;
}

}  // namespace belfry
