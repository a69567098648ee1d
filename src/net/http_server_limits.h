// SPDX-License-Identifier: MIT
//
// How much one client may take of the server, each limit with the answer that goes beyond it.

#pragma once

#include <cstddef>

#include "base/instant.h"

namespace belfry {

struct HttpServerLimits {
  std::size_t connections_max = 10'000;     // beyond it, a new connection is answered 503
  std::size_t head_bytes_max = 16 * 1024;   // request line and headers: 431
  std::size_t target_bytes_max = 8 * 1024;  // 414
  std::size_t headers_max = 100;            // 431
  std::size_t body_bytes_max = 256 * 1024;  // 413
  Millis handshake_timeout{10'000};         // of TLS; then the connection is closed
  Millis head_timeout{10'000};              // from the first byte of a head to its last: 408
  Millis body_timeout{20'000};              // from the end of the head to the end of the body: 408
  Millis idle_timeout{60'000};              // between requests on a kept connection
  Millis write_timeout{20'000};             // a client that does not take its answer
  Millis linger_timeout{2'000};             // for the client to close after our last answer
};

}  // namespace belfry
