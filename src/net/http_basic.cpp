// SPDX-License-Identifier: MIT

#include "net/http_basic.h"

#include "base/base64.h"

namespace belfry {

std::string basic_credentials(std::string_view user, std::string_view password) {
  return "Basic " + base64_of(std::string(user).append(":").append(password));
}

}  // namespace belfry
