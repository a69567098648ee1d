// SPDX-License-Identifier: MIT

#include "dispatch/http_request.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <utility>

#include "base/ascii.h"
#include "base/digits.h"
#include "base/guid.h"
#include "model/url.h"
#include "net/http_basic.h"
#include "net/http_syntax.h"

namespace belfry {
namespace {

constexpr std::size_t kOwnHeadersMax = 14;

bool has_header(const HttpHeaders& headers, std::string_view name) {
  return std::any_of(headers.begin(), headers.end(),
                     [&](const auto& header) { return equal_ignoring_case(header.first, name); });
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
  std::string text = "00-" + occurrence + '-';
  append_hex<16>(text, span == 0 ? 1 : span);
  return text + "-01";
}

void add_our_headers(HttpHeaders& headers, const Attempt& attempt, const Job& job,
                     const HttpSenderIdentity& identity, const SendIds& ids) {
  const std::string occurrence = occurrence_tag(attempt.job, attempt.occurrence.seq);
  add(headers, "User-Agent", identity.user_agent);
  add(headers, "x-ms-scheduler-jobid", job.key->name);
  add(headers, "x-ms-scheduler-jobcollectionid", job.key->collection.name);
  add(headers, "x-ms-scheduler-expected-execution-time",
      expected_execution_time(attempt.occurrence.scheduled_for));
  add(headers, "x-ms-execution-tag", occurrence);
  add(headers, "x-ms-client-request-id", guid_of(ids.request_high, ids.request_low));
  if (!identity.region.empty()) add(headers, "x-ms-region", identity.region);
  add(headers, "Idempotency-Key", idempotency_key(attempt));
  add(headers, "traceparent", traceparent(occurrence, ids.span));
}

Error no_address() {
  return {ErrorCode::invalid, "The address is not an http or https address", {}};
}

// Many frameworks refuse a body of which they are not told what it is.
void add_content_type(HttpHeaders& headers, const std::string& body) {
  if (body.empty() || has_header(headers, "Content-Type")) return;
  boost::system::error_code wrong;
  static_cast<void>(boost::json::parse(body, wrong));
  headers.emplace_back("Content-Type", wrong ? "text/plain; charset=utf-8" : "application/json");
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

void add_headers(HttpCall& call, const HttpHeaders& headers) {
  for (const auto& [name, value] : headers) add(call.headers, name, value);
}

std::string expected_execution_time(Instant scheduled_for) {
  std::string text;
  append_date_time(text, scheduled_for);
  const auto fraction = scheduled_for - std::chrono::floor<Seconds>(scheduled_for);
  if (fraction == Ticks{0}) return text;
  text += '.';
  append_digits<7>(text, static_cast<std::uint64_t>(fraction.count()));
  return text;
}

Result<HttpOrigin> origin_of(const HttpAction& action) {
  std::optional<Url> url = parse_url(action.uri);
  if (!url) return no_address();
  return HttpOrigin{url->https, std::move(url->host), url->port};
}

Result<HttpCall> http_call_of(const HttpAction& action, const Attempt& attempt, const Job& job,
                              const HttpSenderIdentity& identity, const SendIds& ids) {
  std::optional<Url> url = parse_url(action.uri);
  if (!url) return no_address();
  HttpCall call;
  call.origin = {url->https, std::move(url->host), url->port};
  call.method = upper(action.method);
  call.target = std::move(url->target);
  call.authority = std::move(url->authority);
  call.headers.reserve(action.headers.size() + action.secret_headers.size() + kOwnHeadersMax);
  call.headers = action.headers;
  for (const auto& [name, value] : action.secret_headers) {
    call.headers.emplace_back(name, value.reveal());
  }
  call.body = action.body.value_or(std::string{});
  add_content_type(call.headers, call.body);
  add_authentication(call.headers, action);
  add_our_headers(call.headers, attempt, job, identity, ids);
  return call;
}

}  // namespace belfry
