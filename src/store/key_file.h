// SPDX-License-Identifier: MIT
//
// The key file holds the sealing keys, newest first: one to a line, each sixty-four hexadecimal
// digits, readable by its owner alone. It is made with one key at the first start. The first
// key seals; the others are there to open what they sealed before. Each change is made whole or
// not at all. A backup of the database does not hold the keys, so the file is to be kept
// elsewhere and separately.

#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

#include "base/result.h"
#include "store/sealer.h"

namespace belfry {

inline constexpr std::size_t kSealingKeysMax = 16;

// None where there is no such file. A file that others may read is refused.
Result<std::vector<SealingKey>> read_key_file(const std::filesystem::path& path);

// Makes a key and its file; one that is there is an error.
Result<SealingKey> make_key_file(const std::filesystem::path& path);

// Puts these in the place of what the file holds.
Status replace_key_file(const std::filesystem::path& path, const std::vector<SealingKey>& keys);

}  // namespace belfry
