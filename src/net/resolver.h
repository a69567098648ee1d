// SPDX-License-Identifier: MIT
//
// Resolver finds the addresses of a name. It asks the name servers itself (through c-ares) and
// waits for any number of answers at once on one thread, so a name server that is slow for one
// name holds up no other. Answers are kept as long as their owner says, within bounds.
//
// The client dials the addresses it got from here and had checked; the name is not looked up
// a second time, so nobody can give another answer in between.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/egress_guard.h"

namespace belfry {

struct Resolution {
  std::vector<IpAddress> addresses;  // none: there was a failure
  std::string failure;               // a phrase for people
};

// Asks for a host's addresses; the answer may come at once or later, on any thread, and at
// most once. This is what the client is given: Resolver's own, or a test's.
using ResolveDone = std::function<void(Resolution)>;
using Resolve = std::function<void(const std::string& host, ResolveDone done)>;

class Resolver {
 public:
  struct Options {
    // "127.0.0.1:5353", several separated by commas; empty: those of the system.
    std::string servers;
    std::size_t lookups_max = 10'000;  // names at one time; beyond it, one more is not found
  };

  Resolver() : Resolver(Options{}) {}
  explicit Resolver(Options options);
  ~Resolver();  // what is still asked for is forgotten
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;

  // From any thread, never blocking. `done` runs on the resolver's thread.
  void resolve(const std::string& host, ResolveDone done);

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace belfry
