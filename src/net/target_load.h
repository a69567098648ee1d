// SPDX-License-Identifier: MIT
//
// TargetLoad is what was taken for one origin, or one broker, and is not finished.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace belfry {

struct TargetLoad {
  std::string scheme;
  std::string host;  // an IPv6 literal without its brackets
  std::uint16_t port = 0;
  std::size_t waiting = 0;  // for a connection; for the broker's word on a message
};

}  // namespace belfry
