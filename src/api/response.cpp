// SPDX-License-Identifier: MIT

#include "api/response.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/serialize.hpp>

#include "base/guid.h"
#include "base/random.h"
#include "wire/error_json.h"
#include "wire/json.h"

namespace belfry {
namespace {

constexpr std::size_t kClientRequestIdBytesMax = 128;
constexpr std::size_t kHeadersOfMost = 8;

void add_retry_after(HttpResponse& response, Seconds seconds) {
  response.headers.emplace_back("Retry-After", fmt::to_string(seconds.count()));
}

std::string random_guid() {
  thread_local Random random = Random::from_entropy();
  return guid_of(random.next(), random.next());
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

ErrorCode code_of(int status) {
  switch (status) {
    case 413:
    case 414:
    case 431:
      return ErrorCode::too_large;
    case 503:
      return ErrorCode::unavailable;
    default:
      return ErrorCode::invalid;
  }
}

}  // namespace

HttpResponse empty_response(int status) {
  HttpResponse response;
  response.status = status;
  response.headers = {{"Cache-Control", "no-cache"}, {"Pragma", "no-cache"}, {"Expires", "-1"}};
  return response;
}

HttpResponse json_text_response(int status, std::string body) {
  HttpResponse response;
  response.status = status;
  HttpHeaders& headers = response.headers;
  headers.reserve(kHeadersOfMost);  // and one by one: a list of them would be copied
  headers.emplace_back("Content-Type", "application/json; charset=utf-8");
  headers.emplace_back("Cache-Control", "no-cache");
  headers.emplace_back("Pragma", "no-cache");
  headers.emplace_back("Expires", "-1");
  headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.body = std::move(body);
  return response;
}

HttpResponse json_response(int status, const boost::json::value& body) {
  return json_text_response(status, boost::json::serialize(body));
}

HttpResponse error_response(const Error& error) {
  HttpResponse response = json_text_response(http_status(error.code), error_body(error));
  if (error.code == ErrorCode::collection_not_found) {
    response.headers.emplace_back("x-ms-failure-cause", "gateway");
  }
  if (error.code == ErrorCode::unauthenticated) {
    response.headers.emplace_back("WWW-Authenticate", "Bearer");
  }
  if (error.code == ErrorCode::busy || error.code == ErrorCode::unavailable) {
    add_retry_after(response, Seconds{1});
  }
  return response;
}

HttpResponse throttled_response(const std::string& message, Ticks retry_after) {
  const Error error{ErrorCode::busy, message, {}};
  HttpResponse response = json_text_response(http_status(error.code), error_body(error));
  add_retry_after(response, std::max(std::chrono::ceil<Seconds>(retry_after), Seconds{1}));
  return response;
}

HttpResponse malformed_response(const std::string& what, const std::vector<Error>& errors) {
  return json_text_response(http_status(ErrorCode::invalid), malformed_body(what, errors));
}

HttpResponse wrong_method_response(const std::string& method, std::string_view allowed) {
  HttpResponse response = error_response(
      {ErrorCode::wrong_method,
       fmt::format("{} is not possible here; possible are {}.", method.substr(0, 32), allowed),
       {}});
  response.headers.emplace_back("Allow", std::string(allowed));
  return response;
}

HttpResponse refusal_response(int status, const std::string& what) {
  const std::string message = status == 413 ? fmt::format("{}{}", what, kBodyMaxDecides) : what;
  HttpResponse response = json_text_response(status, error_body({code_of(status), message, {}}));
  if (status == 503) add_retry_after(response, Seconds{1});
  add_request_ids(response, {});
  return response;
}

void add_ignored(HttpResponse& response, const std::vector<std::string>& ignored) {
  std::string names;
  for (const std::string& name : ignored) {
    // A member's name is the client's text: what cannot stand in a header is left out.
    if (!is_printable(name) || name.size() > kShownValueMax * 2) continue;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  if (!names.empty()) response.headers.emplace_back("x-belfry-ignored", names);
}

void add_request_ids(HttpResponse& response, const HttpRequest& request) {
  const std::string id = random_guid();
  response.headers.emplace_back("x-ms-request-id", id);
  const std::string_view correlation = header_of(request.headers, "x-ms-correlation-request-id");
  const bool usable = !correlation.empty() && correlation.size() <= kClientRequestIdBytesMax;
  response.headers.emplace_back("x-ms-correlation-request-id",
                                usable ? std::string(correlation) : id);
  const std::string_view client = header_of(request.headers, "x-ms-client-request-id");
  const bool wanted =
      equal_ignoring_case(header_of(request.headers, "x-ms-return-client-request-id"), "true");
  if (wanted && !client.empty() && client.size() <= kClientRequestIdBytesMax) {
    response.headers.emplace_back("x-ms-client-request-id", std::string(client));
  }
}

}  // namespace belfry
