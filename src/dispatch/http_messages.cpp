// SPDX-License-Identifier: MIT

#include "dispatch/http_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "model/history.h"

namespace belfry {
namespace {

struct NamedStatus {
  int status;
  std::string_view name;
};

// System.Net.HttpStatusCode; where it has two names for a number, the one it prints.
constexpr NamedStatus kStatuses[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "NonAuthoritativeInformation"},
    {204, "NoContent"},
    {205, "ResetContent"},
    {206, "PartialContent"},
    {300, "MultipleChoices"},
    {301, "MovedPermanently"},
    {302, "Found"},
    {303, "SeeOther"},
    {304, "NotModified"},
    {305, "UseProxy"},
    {306, "Unused"},
    {307, "TemporaryRedirect"},
    {400, "BadRequest"},
    {401, "Unauthorized"},
    {402, "PaymentRequired"},
    {403, "Forbidden"},
    {404, "NotFound"},
    {405, "MethodNotAllowed"},
    {406, "NotAcceptable"},
    {407, "ProxyAuthenticationRequired"},
    {408, "RequestTimeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "LengthRequired"},
    {412, "PreconditionFailed"},
    {413, "RequestEntityTooLarge"},
    {414, "RequestUriTooLong"},
    {415, "UnsupportedMediaType"},
    {416, "RequestedRangeNotSatisfiable"},
    {417, "ExpectationFailed"},
    {426, "UpgradeRequired"},
    {500, "InternalServerError"},
    {501, "NotImplemented"},
    {502, "BadGateway"},
    {503, "ServiceUnavailable"},
    {504, "GatewayTimeout"},
    {505, "HttpVersionNotSupported"},
};

// System.Net.WebExceptionStatus and the sentence that .NET has for it.
struct Wording {
  std::string_view status;
  std::string_view sentence;
};

Wording wording_of(HttpFailureKind kind) {
  switch (kind) {
    case HttpFailureKind::invalid_call:
      return {"UnknownError", "The request cannot be sent"};
    case HttpFailureKind::name_resolution:
      return {"NameResolutionFailure", "The remote name could not be resolved"};
    case HttpFailureKind::forbidden_address:
      return {"ConnectFailure",
              "Unable to connect to the remote server: calling its address is not allowed unless "
              "the setting allow-targets of Belfry names it"};
    case HttpFailureKind::connect:
      return {"ConnectFailure", "Unable to connect to the remote server"};
    case HttpFailureKind::tls_trust:
      return {"TrustFailure",
              "The underlying connection was closed: Could not establish trust relationship for "
              "the SSL/TLS secure channel"};
    case HttpFailureKind::tls_handshake:
      return {"SecureChannelFailure",
              "The request was aborted: Could not create SSL/TLS secure channel"};
    case HttpFailureKind::timeout:
      return {"Timeout", "The operation has timed out"};
    case HttpFailureKind::closed:
      return {"ReceiveFailure",
              "The underlying connection was closed: An unexpected error occurred on a receive"};
    case HttpFailureKind::protocol:
      return {"ServerProtocolViolation", "The server committed a protocol violation"};
    case HttpFailureKind::too_large:
      return {"MessageLengthLimitExceeded", "The message length limit was exceeded"};
    case HttpFailureKind::proxy_name_resolution:
      return {"ProxyNameResolutionFailure", "The proxy name could not be resolved"};
    case HttpFailureKind::proxy_connect:
      return {"ConnectFailure", "Unable to connect to the proxy server"};
    case HttpFailureKind::proxy_refused:
      return {"RequestProhibitedByProxy", "The proxy server did not carry the request"};
  }
  return {"UnknownError", "The request failed"};
}

// How many of the first bytes are ASCII: of most texts all.
std::size_t ascii_bytes(std::string_view bytes) {
  const auto* other = std::find_if(bytes.data(), bytes.data() + bytes.size(), [](char byte) {
    return static_cast<unsigned char>(byte) >= 0x80;
  });
  return static_cast<std::size_t>(other - bytes.data());
}

// How many bytes the character takes that begins with this one; none for a byte that begins
// no character.
std::optional<std::size_t> character_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return std::nullopt;
}

// The second byte has narrower bounds after some first ones: no character may be written
// longer than it must be, none lies among the surrogates or beyond the last.
bool may_follow(unsigned char lead, std::size_t place, unsigned char byte) {
  unsigned low = 0x80;
  unsigned high = 0xBF;
  if (place == 1 && lead == 0xE0) low = 0xA0;
  if (place == 1 && lead == 0xED) high = 0x9F;
  if (place == 1 && lead == 0xF0) low = 0x90;
  if (place == 1 && lead == 0xF4) high = 0x8F;
  return low <= byte && byte <= high;
}

// How many of the first bytes are, or could begin, one character.
std::size_t formed_bytes(std::string_view bytes, std::size_t length) {
  const auto lead = static_cast<unsigned char>(bytes[0]);
  std::size_t place = 1;
  while (place < length && place < bytes.size() &&
         may_follow(lead, place, static_cast<unsigned char>(bytes[place]))) {
    ++place;
  }
  return place;
}

// The beginning of `lines` that fits, in whole lines.
std::string_view lines_within(std::string_view lines, std::size_t bytes_max) {
  if (lines.size() <= bytes_max) return lines;
  const std::size_t end = lines.substr(0, bytes_max).rfind("\r\n");
  return end == std::string_view::npos ? std::string_view{} : lines.substr(0, end + 2);
}

}  // namespace

std::string status_name(int status) {
  const auto* named = std::find_if(std::begin(kStatuses), std::end(kStatuses),
                                   [&](const NamedStatus& one) { return one.status == status; });
  return named == std::end(kStatuses) ? std::to_string(status) : std::string(named->name);
}

std::optional<int> status_named(std::string_view name) {
  for (const NamedStatus& one : kStatuses) {
    if (one.name == name) return one.status;
  }
  int status = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), status);
  if (error != std::errc{} || rest != name.data() + name.size()) return std::nullopt;
  return status;
}

std::string as_utf8(std::string_view bytes) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  std::string text;
  text.reserve(bytes.size());
  while (true) {
    const std::size_t plain = ascii_bytes(bytes);
    text += bytes.substr(0, plain);
    bytes.remove_prefix(plain);
    if (bytes.empty()) return text;
    const auto length = character_length(static_cast<unsigned char>(bytes[0]));
    const std::size_t formed = length ? formed_bytes(bytes, *length) : 1;
    if (length == formed) {
      text += bytes.substr(0, formed);
    } else if (!length || formed < bytes.size()) {
      text += kReplacement;
    }
    bytes.remove_prefix(formed);
  }
}

std::string response_message(std::string_view host, const HttpReply& reply,
                             std::string_view action) {
  const std::string body = as_utf8(std::string_view(reply.body).substr(0, kHistoryBodyBytesMax));
  std::string message =
      fmt::format("{} Action - Response from host '{}': '{}' Response Headers: ", action, host,
                  status_name(reply.status));
  constexpr std::string_view kBody = " Body: ";
  const std::size_t taken = message.size() + kBody.size() + body.size();
  const std::size_t room = taken < kHistoryMessageBytesMax ? kHistoryMessageBytesMax - taken : 0;
  // Header values may hold any byte; they are cut first, so the text can only become shorter.
  const std::string lines = as_utf8(reply.header_lines);
  message.reserve(taken + std::min(lines.size(), room));
  message += lines_within(lines, room);
  message += kBody;
  message += body;
  return message;
}

std::string failure_message(std::string_view host, const HttpFailure& failure,
                            std::string_view action) {
  const Wording wording = wording_of(failure.kind);
  std::string message = fmt::format("{} Action - Request to host '{}' failed: {} {}", action, host,
                                    wording.status, wording.sentence);
  if (failure.kind == HttpFailureKind::name_resolution) message += fmt::format(": '{}'", host);
  if (!failure.detail.empty()) message += fmt::format(" ({})", failure.detail);
  return message;
}

}  // namespace belfry
