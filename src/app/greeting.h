// SPDX-License-Identifier: MIT
//
// What a server that has started tells the person at the terminal: where it is, where its data
// is, and commands to paste. Standard output is theirs; the log never sees the token.

#pragma once

#include <cstdint>

#include "app/first_token.h"
#include "app/settings.h"

namespace belfry {

void greet(const ServeSettings& settings, std::uint16_t port, const FirstToken& first_token);

}  // namespace belfry
