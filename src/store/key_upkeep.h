// SPDX-License-Identifier: MIT
//
// What an operator does to the keys that seal secrets, from outside and while the server runs:
// look at them, put a new one in front, drop those that nothing is sealed with any more. The
// server notices the new key by itself and seals everything anew; until it has, the old one
// cannot be dropped. Each answers with what to tell the operator.

#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace belfry {

struct KeyPlace {
  std::filesystem::path directory;      // of the store
  std::filesystem::path key_file = {};  // empty: secret.key in the directory
};

Result<std::string> list_keys(const KeyPlace& place);
Result<std::string> rotate_key(const KeyPlace& place);
Result<std::string> drop_old_keys(const KeyPlace& place);

}  // namespace belfry
