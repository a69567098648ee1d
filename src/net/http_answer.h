// SPDX-License-Identifier: MIT
//
// How a response is written. What a handler puts into headers may come from a client (a name,
// a location), so it is checked here: nothing that could end a header early leaves the server.

#pragma once

#include <string>
#include <string_view>

#include "net/http.h"

namespace belfry {

// Status and headers are such that they can be sent. Framing (Content-Length, Connection,
// Transfer-Encoding) is the server's own business and not for handlers to set.
bool may_be_sent(const HttpResponse& response);

// No content and not modified are answers without a body, and without its length.
bool status_has_body(int status);

// Appends status line and headers to `out`; `connection` is that header's value, empty for none.
void render_answer_head(const HttpResponse& response, std::string_view connection,
                        std::string& out);

}  // namespace belfry
