// SPDX-License-Identifier: MIT

#include "net/egress_guard.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "base/assert.h"

namespace belfry {
namespace {

using Family = IpAddress::Family;

constexpr std::string_view kLoopback = "loopback";
constexpr std::size_t kAddressTextMax = 45;  // IPv6 that ends in dotted IPv4

struct NamedRange {
  IpRange range;
  std::string_view kind;
};

constexpr IpRange v4(std::uint8_t a, std::uint8_t b, std::uint8_t c, std::uint8_t d, int bits) {
  return {{Family::v4, {a, b, c, d}}, bits};
}

// The first four groups of sixteen bits; the rest is zero.
constexpr IpRange v6(std::array<std::uint16_t, 4> groups, int bits) {
  IpRange range{{Family::v6, {}}, bits};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    range.first.bytes[2 * i] = static_cast<std::uint8_t>(groups[i] >> 8);
    range.first.bytes[2 * i + 1] = static_cast<std::uint8_t>(groups[i] & 0xff);
  }
  return range;
}

// IANA's special-purpose registry, and what clouds keep for themselves.
constexpr NamedRange kForbiddenV4[] = {
    {v4(0, 0, 0, 0, 8), "this network"},
    {v4(10, 0, 0, 0, 8), "private"},
    {v4(100, 64, 0, 0, 10), "shared by a carrier"},
    {v4(127, 0, 0, 0, 8), kLoopback},
    {v4(168, 63, 129, 16, 32), "a cloud's host service"},
    {v4(169, 254, 0, 0, 16), "link-local"},
    {v4(172, 16, 0, 0, 12), "private"},
    {v4(192, 0, 0, 0, 24), "reserved"},
    {v4(192, 0, 2, 0, 24), "for documentation"},
    {v4(192, 88, 99, 0, 24), "reserved"},
    {v4(192, 168, 0, 0, 16), "private"},
    {v4(198, 18, 0, 0, 15), "for benchmarks"},
    {v4(198, 51, 100, 0, 24), "for documentation"},
    {v4(203, 0, 113, 0, 24), "for documentation"},
    {v4(224, 0, 0, 0, 4), "multicast"},
    {v4(240, 0, 0, 0, 4), "reserved"},
};

// In this order: the narrower range first, where it has a better name.
constexpr NamedRange kForbiddenV6[] = {
    {v6({0x2001, 0x0db8, 0, 0}, 32), "for documentation"},
    {v6({0x2001, 0, 0, 0}, 32), "a Teredo tunnel"},
    {v6({0x2001, 0, 0, 0}, 23), "reserved"},
    {v6({0x3fff, 0, 0, 0}, 20), "for documentation"},
    {v6({0x64, 0xff9b, 1, 0}, 48), "a local translation of IPv4"},
    {v6({0xfc00, 0, 0, 0}, 7), "private"},
    {v6({0xfe80, 0, 0, 0}, 10), "link-local"},
    {v6({0xfec0, 0, 0, 0}, 10), "site-local"},
    {v6({0xff00, 0, 0, 0}, 8), "multicast"},
};

constexpr IpRange kGlobalUnicast = v6({0x2000, 0, 0, 0}, 3);
constexpr IpRange kNat64 = v6({0x64, 0xff9b, 0, 0}, 96);
constexpr IpRange kSixToFour = v6({0x2002, 0, 0, 0}, 16);

constexpr IpAddress kLoopbackV6{Family::v6, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

IpAddress embedded_v4(const IpAddress& address, std::size_t offset) {
  IpAddress embedded;
  std::copy_n(address.bytes.begin() + static_cast<std::ptrdiff_t>(offset), 4,
              embedded.bytes.begin());
  return embedded;
}

template <typename Ranges>
std::string_view kind_in(const Ranges& ranges, const IpAddress& address) {
  for (const NamedRange& named : ranges) {
    if (named.range.contains(address)) return named.kind;
  }
  return {};
}

// Mapped (::ffff:a.b.c.d) and compatible (::a.b.c.d) addresses fall to the last line: nobody
// has a reason to write a public IPv4 address so, and kernels disagree on what they mean.
std::string_view kind_of_v6(const IpAddress& address) {
  if (address == kLoopbackV6) return kLoopback;
  const std::string_view kind = kind_in(kForbiddenV6, address);
  if (!kind.empty()) return kind;
  if (kNat64.contains(address)) return kind_in(kForbiddenV4, embedded_v4(address, 12));
  if (kSixToFour.contains(address)) return kind_in(kForbiddenV4, embedded_v4(address, 2));
  return kGlobalUnicast.contains(address) ? std::string_view{} : "reserved";
}

std::string_view kind_of(const IpAddress& address) {
  return address.family == Family::v4 ? kind_in(kForbiddenV4, address) : kind_of_v6(address);
}

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return '0' <= c && c <= '9'; });
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  // For inet_pton() the text would end there.
  if (text.size() > kAddressTextMax || text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  const std::string terminated(text);
  IpAddress address;
  if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data()) == 1) return address;
  address.family = Family::v6;
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family_number = family == Family::v4 ? AF_INET : AF_INET6;
  const char* written = inet_ntop(family_number, bytes.data(), text.data(), text.size());
  ASSERT(written != nullptr);
  return written;
}

std::optional<IpRange> IpRange::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto first = IpAddress::parse(text.substr(0, slash));
  if (!first) return std::nullopt;
  const int bits_max = first->family == Family::v4 ? 32 : 128;
  if (slash == std::string_view::npos) return IpRange{*first, bits_max};
  const std::string_view digits = text.substr(slash + 1);
  int bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  if (bits < 0 || bits > bits_max) return std::nullopt;
  return IpRange{*first, bits};
}

bool IpRange::contains(const IpAddress& address) const {
  if (address.family != first.family) return false;
  const auto whole = static_cast<std::size_t>(prefix_bits / 8);
  if (!std::equal(first.bytes.begin(), first.bytes.begin() + prefix_bits / 8,
                  address.bytes.begin())) {
    return false;
  }
  if (prefix_bits % 8 == 0) return true;
  const int shift = 8 - prefix_bits % 8;
  return first.bytes[whole] >> shift == address.bytes[whole] >> shift;
}

bool looks_like_number(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  const std::string_view last = host.substr(host.rfind('.') + 1);
  if (last.empty() || all_digits(last)) return true;
  return last.starts_with("0x") || last.starts_with("0X");
}

bool EgressGuard::allowed_by_operator(const IpAddress& address) const {
  return std::any_of(options_.allowed.begin(), options_.allowed.end(),
                     [&](const IpRange& range) { return range.contains(address); });
}

std::string_view EgressGuard::objection(const IpAddress& address) const {
  const std::string_view kind = kind_of(address);
  if (kind.empty() || allowed_by_operator(address)) return {};
  if (kind == kLoopback && options_.allow_loopback) {
    // Loopback inside a translated address would leave this machine: only the plain forms.
    const bool plain = address.family == Family::v4 || address == kLoopbackV6;
    if (plain) return {};
  }
  return kind;
}

}  // namespace belfry
