// SPDX-License-Identifier: MIT
//
// A store has one clock, the machine's or a virtual one, for good. Under a virtual clock that is
// years ahead the history of today is old and is removed, and what was done then lies years ahead
// for the machine's: jobs would wait for it, and nobody would be told.
//
// A store of a virtual clock has an empty file beside its database, `virtual-clock`.

#pragma once

#include <filesystem>

#include "base/result.h"

namespace belfry {

// Whether a server with that kind of clock may open the store in the directory. One that is not
// there yet fits either.
Status check_clock_of(const std::filesystem::path& directory, bool is_virtual);

// From now on the store in it is a virtual clock's.
Status mark_virtual(const std::filesystem::path& directory);

}  // namespace belfry
