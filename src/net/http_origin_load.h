// SPDX-License-Identifier: MIT
//
// HttpOriginLoad is what the HTTP client has taken for one origin and not finished.

#pragma once

#include <cstddef>

#include "net/http_client_call.h"

namespace belfry {

struct HttpOriginLoad {
  HttpOrigin origin;
  std::size_t calls = 0;
  std::size_t waiting = 0;  // of those, for a connection
};

}  // namespace belfry
