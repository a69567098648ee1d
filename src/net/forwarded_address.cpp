// SPDX-License-Identifier: MIT

#include "net/forwarded_address.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/ascii.h"
#include "net/http_syntax.h"

namespace belfry {
namespace {

// A colon and a number.
bool is_port(std::string_view text) {
  if (!text.starts_with(':')) return false;
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + 1, end, port);
  return read.ec == std::errc{} && read.ptr == end;
}

std::optional<IpAddress> parse_bracketed(std::string_view entry) {
  const std::size_t bracket = entry.find(']');
  if (bracket == std::string_view::npos) return {};
  const std::string_view rest = entry.substr(bracket + 1);
  if (!rest.empty() && !is_port(rest)) return {};
  const auto address = IpAddress::parse(entry.substr(1, bracket - 1));
  if (!address || address->family != IpAddress::Family::v6) return {};
  return address;
}

// An IPv4 client of a proxy's IPv6 socket is known by its IPv4 address.
IpAddress unmapped(const IpAddress& address) {
  static const IpRange kMapped = *IpRange::parse("::ffff:0:0/96");
  if (address.family == IpAddress::Family::v4 || !kMapped.contains(address)) return address;
  IpAddress v4;
  std::copy_n(address.bytes.begin() + 12, 4, v4.bytes.begin());
  return v4;
}

}  // namespace

// Without brackets one colon parts an IPv4 address from its port; several are IPv6, which then has
// none.
std::optional<IpAddress> parse_forwarded_entry(std::string_view entry) {
  if (entry.starts_with('[')) return parse_bracketed(entry);
  if (std::count(entry.begin(), entry.end(), ':') != 1) return IpAddress::parse(entry);
  const std::size_t colon = entry.find(':');
  if (!is_port(entry.substr(colon))) return {};
  return IpAddress::parse(entry.substr(0, colon));
}

std::optional<IpAddress> forwarded_address(const HttpHeaders& headers) {
  const auto last = std::find_if(headers.rbegin(), headers.rend(), [](const auto& header) {
    return equal_ignoring_case(header.first, "X-Forwarded-For");
  });
  if (last == headers.rend()) return {};
  const std::string_view entries = last->second;
  const auto address = parse_forwarded_entry(trimmed(entries.substr(entries.rfind(',') + 1)));
  return address ? std::optional(unmapped(*address)) : std::nullopt;
}

}  // namespace belfry
