// SPDX-License-Identifier: MIT

#include "net/http_proxy.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "net/http_basic.h"
#include "net/http_syntax.h"

namespace belfry {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::size_t kProxyBytesMax = 2048;

std::string in_lower_case(std::string_view text) {
  std::string out(text);
  make_lower(out);
  return out;
}

bool is_name(std::string_view host) {
  return !host.empty() && is_host(host) && host.find_first_of(":[]") == std::string_view::npos;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    const std::string_view digits = text.substr(at + 1, 2);
    unsigned byte = 0;
    const char* end = digits.data() + digits.size();
    const auto [rest, error] = std::from_chars(digits.data(), end, byte, 16);
    if (error != std::errc{} || rest != end || digits.size() != 2) return std::nullopt;
    out += static_cast<char>(byte);
    at += 2;
  }
  return out;
}

// The parts of "http://user:password@host:port/"; views into the text.
struct Parts {
  std::string_view user;
  std::string_view password;
  std::string_view host;
  std::string_view port;
  bool has_password = false;
};

std::optional<Parts> take_apart(std::string_view text) {
  if (text.size() > kProxyBytesMax || !equal_ignoring_case(text.substr(0, 7), kScheme)) {
    return std::nullopt;
  }
  text.remove_prefix(kScheme.size());
  if (text.ends_with('/')) text.remove_suffix(1);
  Parts parts;
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    const std::string_view user = text.substr(0, at);
    const auto colon = user.find(':');
    parts.user = user.substr(0, colon);
    parts.has_password = colon != std::string_view::npos;
    if (parts.has_password) parts.password = user.substr(colon + 1);
    text.remove_prefix(at + 1);
  }
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  parts.host = text.substr(0, colon);
  parts.port = text.substr(colon + 1);
  if (parts.host.starts_with('[') && parts.host.ends_with(']')) {
    parts.host = parts.host.substr(1, parts.host.size() - 2);
  }
  return parts;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, port);
  if (error != std::errc{} || rest != end || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::optional<HttpDirectHosts> HttpDirectHosts::parse(const std::vector<std::string>& parts) {
  HttpDirectHosts out;
  for (const std::string& part : parts) {
    std::string_view name = part;
    if (name == "*") {
      out.all_ = true;
      continue;
    }
    if (const auto range = IpRange::parse(name)) {
      out.ranges_.push_back(*range);
      continue;
    }
    if (name.starts_with('.')) name.remove_prefix(1);
    if (!is_name(name)) return std::nullopt;
    out.names_.push_back(in_lower_case(name));
  }
  return out;
}

bool HttpDirectHosts::contains(std::string_view host) const {
  if (all_) return true;
  if (const auto address = IpAddress::parse(host)) {
    return std::any_of(ranges_.begin(), ranges_.end(),
                       [&](const IpRange& range) { return range.contains(*address); });
  }
  return std::any_of(names_.begin(), names_.end(), [&](const std::string& name) {
    return host == name || (host.ends_with(name) && host[host.size() - name.size() - 1] == '.');
  });
}

std::optional<HttpProxy> HttpProxy::parse(std::string_view text) {
  const auto parts = take_apart(text);
  if (!parts) return std::nullopt;
  const auto port = parse_port(parts->port);
  const auto user = percent_decoded(parts->user);
  const auto password = percent_decoded(parts->password);
  const bool known_host = is_name(parts->host) || IpAddress::parse(parts->host);
  if (!port || !user || !password || !known_host) return std::nullopt;
  if (!is_field_value(*user) || !is_field_value(*password)) return std::nullopt;
  HttpProxy proxy;
  proxy.host = in_lower_case(parts->host);
  proxy.port = *port;
  if (!user->empty()) proxy.authorization = basic_credentials(*user, *password);
  return proxy;
}

std::string without_proxy_password(std::string_view text) {
  if (text.empty()) return {};
  const auto parts = take_apart(text);
  if (!parts) return "***";
  if (!parts->has_password) return std::string(text);
  const auto before = static_cast<std::size_t>(parts->password.data() - text.data());
  return std::string(text.substr(0, before))
      .append("***")
      .append(text.substr(before + parts->password.size()));
}

}  // namespace belfry
