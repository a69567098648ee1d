// SPDX-License-Identifier: MIT
//
// Url is an http or https address taken apart, as far as making the call needs it.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace belfry {

inline constexpr std::size_t kUrlBytesMax = 2048;

struct Url {
  bool https = false;
  std::string host;  // lower case; an IPv6 literal without its brackets
  std::uint16_t port = 0;
  std::string target;     // path and query, as written; "/" when there is none
  std::string authority;  // host and port as the Host header names them

  bool operator==(const Url&) const = default;
};

// None for anything but a well-formed absolute http or https address: no credentials in it,
// no blanks or control characters, a port from 1 to 65535. A fragment is cut off.
std::optional<Url> parse_url(std::string_view text);

// Everything but letters, digits and "-._~" by its number.
std::string percent_encoded(std::string_view text);

}  // namespace belfry
