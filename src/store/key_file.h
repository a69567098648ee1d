// SPDX-License-Identifier: MIT
//
// The key file holds the sealing key: sixty-four hexadecimal digits and the end of the line,
// readable by its owner alone. It is made at the first start, whole or not at all; a backup of
// the database does not hold it, so it is to be kept elsewhere and separately.

#pragma once

#include <filesystem>
#include <optional>

#include "base/result.h"
#include "store/sealer.h"

namespace belfry {

// Nothing where there is no such file. A file that others may read is refused.
Result<std::optional<SealingKey>> read_key_file(const std::filesystem::path& path);

// Makes a key and its file; one that is there is an error.
Result<SealingKey> make_key_file(const std::filesystem::path& path);

}  // namespace belfry
