// SPDX-License-Identifier: MIT
//
// What a server that has started tells the person at the terminal: where it is, where its data
// is, and commands to paste while there are no jobs yet. Standard output is theirs; the log never
// sees the token. With a log for machines nobody sits there: only the token is told.

#pragma once

#include <cstdint>

#include "app/first_token.h"
#include "app/settings.h"
#include "store/store_facts.h"

namespace belfry {

void greet(const ServeSettings& settings, std::uint16_t port, const FirstToken& first_token,
           const JobCounts& jobs);

}  // namespace belfry
