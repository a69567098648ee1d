// SPDX-License-Identifier: MIT
//
// /openapi.json: the API described for machines (src/api/openapi.json). It is the same for
// everybody and tells nothing that the sources do not, so it needs no credential.

#pragma once

#include <string_view>

#include "net/http.h"

namespace belfry {

std::string_view openapi_text();
HttpResponse openapi_response();

}  // namespace belfry
