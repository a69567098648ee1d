// SPDX-License-Identifier: MIT
//
// EgressGuard says which addresses Belfry may call. Whoever may create a job may make this
// machine connect somewhere, so by default it connects only to what is public: not to itself,
// its neighbours, the cloud's metadata service, nor to addresses that merely carry such an
// address inside. Pure; the client asks it about the very address that it is about to dial.

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace belfry {

struct IpAddress {
  enum class Family { v4, v6 };

  Family family = Family::v4;
  std::array<std::uint8_t, 16> bytes{};  // of IPv4 the first four

  // Four decimal numbers, or IPv6 without brackets and zone. Every other spelling that some
  // resolver would take for an address (127.1, 0x7f000001, 0177.0.0.1) is none.
  static std::optional<IpAddress> parse(std::string_view text);

  std::string text() const;
  bool operator==(const IpAddress&) const = default;
};

struct IpRange {
  IpAddress first;
  int prefix_bits = 0;

  // "10.0.0.0/8", "fd00::/8", or one address.
  static std::optional<IpRange> parse(std::string_view text);

  bool contains(const IpAddress& address) const;
};

// No name of a host ends like this, but old C libraries read such texts as IPv4 addresses in
// decimal, octal or hexadecimal: "2130706433", "0x7f.1", "127.0.0.1.". They are not looked up.
bool looks_like_number(std::string_view host);

class EgressGuard {
 public:
  struct Options {
    bool allow_loopback = false;   // local mode: the first job calls this very machine
    std::vector<IpRange> allowed;  // named by the operator
  };

  EgressGuard() = default;
  explicit EgressGuard(Options options) : options_(std::move(options)) {}

  // What kind of forbidden address this is, in a word or two; empty for one we may call.
  std::string_view objection(const IpAddress& address) const;

 private:
  bool allowed_by_operator(const IpAddress& address) const;

  Options options_;
};

}  // namespace belfry
