// SPDX-License-Identifier: MIT
//
// Where the next page of a list is: an absolute address, as Azure's clients expect it, under the
// scheme and the host by which the client reached the server.

#pragma once

#include <string>

#include "net/http.h"
#include "wire/query.h"

namespace belfry {

// How requests come. Behind a proxy that does TLS they come as http; X-Forwarded-Proto says what
// the client spoke, and without it that was https.
enum class ClientScheme { http, https, behind_proxy };

std::string next_link(ClientScheme scheme, const HttpRequest& request, const Query& query,
                      const std::string& token);

}  // namespace belfry
