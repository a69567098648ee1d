// SPDX-License-Identifier: MIT
//
// How a call is written down as HTTP/1.1. What comes from users is checked once more here,
// at the last place before the wire: nothing that could end a header early leaves Belfry.

#pragma once

#include <optional>
#include <string>

#include "net/http_client_call.h"

namespace belfry {

struct HttpProxy;

// Head and body as they go over the wire; none when the call cannot be written. A proxy is
// asked for http targets in absolute form, and of https ones it sees nothing.
std::optional<std::string> render_http_call(const HttpCall& call, const HttpProxy* proxy);

}  // namespace belfry
