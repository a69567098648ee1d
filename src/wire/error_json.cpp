// SPDX-License-Identifier: MIT

#include "wire/error_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <string_view>

#include "base/assert.h"

namespace belfry {
namespace {

namespace json = boost::json;

struct Spelt {
  int status;
  const char* code;
};

Spelt spelt(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return {400, "BadRequest"};
    case ErrorCode::too_large:
      return {413, "RequestEntityTooLarge"};
    case ErrorCode::missing_api_version:
      return {400, "MissingApiVersionParameter"};
    case ErrorCode::invalid_api_version:
      return {400, "InvalidApiVersionParameter"};
    case ErrorCode::no_such_route:
      return {404, "NotFound"};
    case ErrorCode::wrong_method:
      return {405, "MethodNotAllowed"};
    case ErrorCode::collection_not_found:
      return {404, "ResourceNotFound"};
    case ErrorCode::job_not_found:
      return {404, "NotFound"};
    case ErrorCode::parent_missing:
      return {404, "ParentResourceNotFound"};
    case ErrorCode::conflict:
    case ErrorCode::changed:
      return {409, "Conflict"};
    case ErrorCode::unauthenticated:
      return {401, "AuthenticationFailed"};
    case ErrorCode::forbidden:
      return {403, "AuthorizationFailed"};
    case ErrorCode::busy:
      return {429, "TooManyRequests"};
    case ErrorCode::unavailable:
    case ErrorCode::unknown:
      return {503, "ServerBusy"};
    case ErrorCode::internal:
      return {500, "InternalError"};
  }
  ASSERT(false && "an error code without a spelling");
  return {500, "InternalError"};
}

// How many bytes the UTF-8 sequence at the beginning of the text has; 0 when it is none.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  // Too long for what they say, surrogates, and beyond the last character.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool wrong = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                     (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return wrong ? 0 : length;
}

// A message repeats what the client sent, cut short perhaps; an answer is UTF-8 all the same.
std::string as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

json::object error_object(const char* code, const Error& error, const std::string& message) {
  json::object out;
  out["code"] = code;
  out["message"] = as_utf8(message);
  if (!error.target.empty()) out["target"] = as_utf8(error.target);
  return out;
}

std::string enveloped(json::object error) {
  json::object out;
  out["error"] = std::move(error);
  return json::serialize(out);
}

std::string sentence(const Error& error) {
  return error.target.empty() ? error.message : fmt::format("{}: {}", error.target, error.message);
}

}  // namespace

int http_status(ErrorCode code) {
  return spelt(code).status;
}

std::string error_body(const Error& error) {
  return enveloped(error_object(spelt(error.code).code, error, error.message));
}

std::string malformed_body(const std::string& what, const std::vector<Error>& errors) {
  ASSERT(!errors.empty());
  const char* code = spelt(ErrorCode::invalid).code;
  const Error& first = errors.front();
  json::object out = error_object(code, first, fmt::format("{}. {}", what, sentence(first)));
  if (errors.size() > 1) {
    json::array details;
    for (const Error& error : errors) details.push_back(error_object(code, error, error.message));
    out["details"] = std::move(details);
  }
  return enveloped(std::move(out));
}

}  // namespace belfry
