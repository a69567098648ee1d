// SPDX-License-Identifier: MIT
//
// What every connection to a target needs while it is made, whatever it then speaks.

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/tcp.hpp>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/instant.h"
#include "net/egress_guard.h"

namespace belfry {

// Of a name that has more, the others are not tried.
inline constexpr std::size_t kAddressesMax = 8;

inline boost::asio::ip::tcp::endpoint endpoint_of(const IpAddress& address, std::uint16_t port) {
  if (address.family == IpAddress::Family::v4) {
    boost::asio::ip::address_v4::bytes_type bytes;
    std::copy_n(address.bytes.begin(), bytes.size(), bytes.begin());
    return {boost::asio::ip::address_v4(bytes), port};
  }
  return {boost::asio::ip::address_v6(address.bytes), port};
}

// As errors say it.
inline std::string within(Millis limit) {
  return fmt::format("within {} s", static_cast<double>(limit.count()) / 1000);
}

}  // namespace belfry
