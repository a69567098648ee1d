// SPDX-License-Identifier: MIT

#include "dispatch/http_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/url.h"
#include "net/http_basic.h"
#include "net/http_syntax.h"

namespace belfry {
namespace {

constexpr std::size_t kOwnHeadersMax = 10;

bool has_header(const HttpHeaders& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const auto& header) { return equals_ignoring_case(header.first, name); });
}

void add(HttpHeaders& headers, std::string_view name, std::string value) {
  if (!has_header(headers, name)) headers.emplace_back(name, std::move(value));
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return 'a' <= c && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return text;
}

// Trace ids of one occurrence are equal, so a tracing system shows its attempts together.
std::string traceparent(const std::string& occurrence, std::uint64_t span) {
  return fmt::format("00-{}-{:016x}-01", occurrence, span == 0 ? 1 : span);
}

void add_our_headers(HttpHeaders& headers, const Attempt& attempt, const Job& job,
                     const HttpSenderIdentity& identity, const SendIds& ids) {
  const std::string occurrence = occurrence_tag(attempt.job, attempt.occurrence.seq);
  add(headers, "User-Agent", identity.user_agent);
  add(headers, "x-ms-scheduler-jobid", job.key.name);
  add(headers, "x-ms-scheduler-jobcollectionid", job.key.collection.name);
  add(headers, "x-ms-scheduler-expected-execution-time",
      expected_execution_time(attempt.occurrence.scheduled_for));
  add(headers, "x-ms-execution-tag", occurrence);
  add(headers, "x-ms-client-request-id", guid_of(ids.request_high, ids.request_low));
  if (!identity.region.empty()) add(headers, "x-ms-region", identity.region);
  add(headers, "Idempotency-Key", idempotency_key(attempt));
  add(headers, "traceparent", traceparent(occurrence, ids.span));
}

// Certificates and tokens are not in the action itself; whoever sends it adds them.
void add_authentication(HttpHeaders& headers, const HttpAction& action) {
  if (!action.authentication) return;
  if (const auto* known = std::get_if<BasicAuthentication>(&*action.authentication)) {
    add(headers, "Authorization", basic_credentials(known->username, known->password.reveal()));
  }
}

}  // namespace

void add_bearer_token(HttpCall& call, const std::string& token) {
  add(call.headers, "Authorization", "Bearer " + token);
}

std::string guid_of(std::uint64_t high, std::uint64_t low) {
  high = (high & ~std::uint64_t{0xF000}) | 0x4000;
  low = (low & ~(std::uint64_t{3} << 62)) | (std::uint64_t{2} << 62);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xFFFF,
                     high & 0xFFFF, low >> 48, low & 0xFFFF'FFFF'FFFF);
}

std::string expected_execution_time(Instant scheduled_for) {
  const auto second = std::chrono::floor<Seconds>(scheduled_for);
  const auto day = std::chrono::floor<std::chrono::days>(second);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(second - day);
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", int{date.year()},
                                 unsigned{date.month()}, unsigned{date.day()}, time.hours().count(),
                                 time.minutes().count(), time.seconds().count());
  const auto fraction = (scheduled_for - second).count();
  return fraction == 0 ? text : text + fmt::format(".{:07}", fraction);
}

Result<HttpCall> http_call_of(const HttpAction& action, const Attempt& attempt, const Job& job,
                              const HttpSenderIdentity& identity, const SendIds& ids) {
  std::optional<Url> url = parse_url(action.uri);
  if (!url) return Error{ErrorCode::invalid, "The address is not an http or https address", {}};
  HttpCall call;
  call.origin = {url->https, std::move(url->host), url->port};
  call.method = upper(action.method);
  call.target = std::move(url->target);
  call.authority = std::move(url->authority);
  call.headers.reserve(action.headers.size() + kOwnHeadersMax);
  call.headers = action.headers;
  call.body = action.body.value_or(std::string{});
  add_authentication(call.headers, action);
  add_our_headers(call.headers, attempt, job, identity, ids);
  return call;
}

}  // namespace belfry
