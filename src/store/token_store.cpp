// SPDX-License-Identifier: MIT

#include "store/token_store.h"

#include <fmt/format.h>

namespace belfry {

Error too_many_tokens() {
  return {ErrorCode::conflict,
          fmt::format("There are {} tokens already, which is the limit: revoke some first. One "
                      "that ended is forgotten after {} days.",
                      kTokensMax, std::chrono::floor<std::chrono::days>(kEndedTokensKept).count()),
          {}};
}

Error token_exists(const std::string& id) {
  return {ErrorCode::conflict, fmt::format("There is a token '{}' already.", id), {}};
}

}  // namespace belfry
