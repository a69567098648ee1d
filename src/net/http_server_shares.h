// SPDX-License-Identifier: MIT
//
// What all clients of a server may take together, and what a full server does: whoever has kept
// it waiting for a request longest gives way, so that silent and slow clients shut nobody out.

#pragma once

#include <cstddef>

#include "base/instant.h"

namespace belfry {

struct HttpServerShares {
  // After so long without a request, a client gives way to others when the server is full.
  Millis patience_when_full{1'000};
  std::size_t request_bytes_max = 128 * 1024 * 1024;  // of all requests under way: 503
  std::size_t answer_bytes_max = 256 * 1024 * 1024;   // of all answers being written: 503
  std::size_t small_answer_bytes = 16 * 1024;         // answers up to this size do not count
  Millis throttled_pause{1'000};  // after a 429, before the client's next request is read
};

}  // namespace belfry
