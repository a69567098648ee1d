// SPDX-License-Identifier: MIT

#include "api/openapi.h"

#include "api/operations.h"
#include "api/response.h"
#include "openapi_text.h"

namespace belfry {

std::string_view openapi_text() {
  return kOpenApiText;
}

HttpResponse openapi_response(const HttpRequest& request) {
  if (!is_read(request)) return only_get_response();
  return {200, {{"Content-Type", "application/json; charset=utf-8"}}, std::string(openapi_text())};
}

}  // namespace belfry
