// SPDX-License-Identifier: MIT
//
// FAILPOINT("after-commit") marks a place where a crash would be interesting. In debug builds
// BELFRY_FAILPOINT=after-commit:3 ends the process there, as kill -9 would, when the place is
// reached for the third time. In release builds there is nothing at all.

#pragma once

namespace belfry {

void reach_failpoint(const char* name);

}  // namespace belfry

#ifdef BELFRY_FAILPOINTS
#define FAILPOINT(name) ::belfry::reach_failpoint(name)
#else
#define FAILPOINT(name) static_cast<void>(0)
#endif
