// SPDX-License-Identifier: MIT
//
// ASSERT states what must hold if our own code is right. It stays on in release builds: a
// scheduler that goes on in a state nobody thought of loses occurrences silently, one that
// stops is restarted and reads its store again.

#pragma once

namespace belfry {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace belfry

#define ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::belfry::assertion_failed(#condition, __FILE__, __LINE__))
