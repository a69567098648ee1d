// SPDX-License-Identifier: MIT
//
// A measurement that cannot go on gives up the whole run: BenchFailure is thrown wherever that
// is noticed and caught once, in run_bench(), after the server was stopped and its directory
// removed. Nothing of it is ever thrown in a server.

#pragma once

#include <stdexcept>
#include <string>

namespace belfry {

struct BenchFailure : std::runtime_error {
  explicit BenchFailure(const std::string& why) : std::runtime_error(why) {}
};

}  // namespace belfry
