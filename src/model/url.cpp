// SPDX-License-Identifier: MIT

#include "model/url.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "model/key.h"

namespace belfry {
namespace {

constexpr std::size_t kHostBytesMax = 253;

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7F;
  });
}

bool is_host_name(std::string_view host) {
  if (host.empty() || host.size() > kHostBytesMax) return false;
  return std::all_of(host.begin(), host.end(), [](char c) {
    return ('a' <= c && c <= 'z') || ('0' <= c && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

bool is_ipv6_literal(std::string_view host) {
  if (host.size() < 2 || host.size() > 45) return false;
  return std::all_of(host.begin(), host.end(), [](char c) {
    return ('a' <= c && c <= 'f') || ('0' <= c && c <= '9') || c == ':' || c == '.';
  });
}

// In any case.
bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (!equal_ignoring_case(text.substr(0, prefix.size()), prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Where path or query begin; the end where there is neither.
std::size_t find_target(std::string_view text) {
  const auto* const found =
      std::find_if(text.begin(), text.end(), [](char c) { return c == '/' || c == '?'; });
  return static_cast<std::size_t>(found - text.begin());
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (port < 1 || port > 65535) return std::nullopt;
  return static_cast<std::uint16_t>(port);
}

// "host", "host:port", "[::1]:port" into the url; false when it is none of these.
bool take_authority(std::string_view authority, Url& url) {
  std::string_view port;
  if (!authority.empty() && authority.front() == '[') {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return false;
    url.host = folded(authority.substr(1, end - 1));
    port = authority.substr(end + 1);
    if (!is_ipv6_literal(url.host)) return false;
  } else {
    const auto colon = authority.find(':');
    url.host = folded(authority.substr(0, colon));
    if (colon != std::string_view::npos) port = authority.substr(colon);
    if (!is_host_name(url.host)) return false;
  }
  url.port = url.https ? 443 : 80;
  if (port.empty()) return true;
  if (port.front() != ':') return false;
  if (port.size() == 1) return true;  // "host:" means the default port (RFC 3986)
  const auto number = parse_port(port.substr(1));
  if (!number) return false;
  url.port = *number;
  return true;
}

}  // namespace

std::optional<Url> parse_url(std::string_view text) {
  if (text.size() > kUrlBytesMax || !is_printable(text)) return std::nullopt;
  Url url;
  if (take_prefix(text, "https://")) {
    url.https = true;
  } else if (!take_prefix(text, "http://")) {
    return std::nullopt;
  }
  text = text.substr(0, text.find('#'));
  const std::size_t path = find_target(text);
  const std::string_view authority = text.substr(0, path);
  if (!take_authority(authority, url)) return std::nullopt;
  url.authority = folded(authority);
  url.target = path == text.size() ? "/" : std::string(text.substr(path));
  if (url.target.front() == '?') url.target.insert(url.target.begin(), '/');
  return url;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const bool plain = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    const auto byte = static_cast<unsigned char>(c);
    if (!plain) out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    if (plain) out += c;
  }
  return out;
}

}  // namespace belfry
