// SPDX-License-Identifier: MIT

#include "api/openapi.h"

#include "openapi_text.h"

namespace belfry {

std::string_view openapi_text() {
  return kOpenApiText;
}

HttpResponse openapi_response() {
  return {200, {{"Content-Type", "application/json; charset=utf-8"}}, std::string(openapi_text())};
}

}  // namespace belfry
