// SPDX-License-Identifier: MIT
//
// Every connection is an open file, of clients as of targets, and a process may have only so many.

#pragma once

#include <cstddef>

namespace belfry {

// What the machine allows is more than most shells ask for.
void raise_file_limit();

std::size_t files_max();

// How many clients may be connected at one time where `wanted` should and there may be `files`
// open files. Whatever clients do, some are left for calls to targets and for the store.
std::size_t connections_with(std::size_t files, std::size_t wanted);

}  // namespace belfry
