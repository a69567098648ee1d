// SPDX-License-Identifier: MIT
#include "net/http.h"

#include "base/ascii.h"
#include "net/http_syntax.h"

namespace belfry {

std::string_view header_of(const HttpHeaders& headers, std::string_view name) {
  for (const auto& [header, value] : headers) {
    if (equal_ignoring_case(header, name)) return value;
  }
  return {};
}

}  // namespace belfry
