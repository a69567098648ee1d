// SPDX-License-Identifier: MIT
//
// The settings as each part of the server wants them.

#pragma once

#include <memory>

#include "app/engine_thread.h"
#include "app/settings.h"
#include "base/clock.h"
#include "dispatch/action_dispatcher.h"
#include "engine/engine.h"

namespace belfry {

// The machine's clock, or one that stands still.
std::unique_ptr<Clock> make_clock(const ServeSettings& settings);

// A virtual clock waits for its first move.
Starts starts_of(const ServeSettings& settings);

EngineOptions engine_options_of(const ServeSettings& settings);
Result<HttpClient::Options> http_options_of(const ServeSettings& settings);
Result<ActionDispatcher::Options> dispatcher_options_of(const ServeSettings& settings);

}  // namespace belfry
