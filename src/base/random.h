// SPDX-License-Identifier: MIT
//
// Random is the only source of chance in Belfry, so that a simulation repeats from its seed.
// It is fast and not for keys: secrets come from OpenSSL.

#pragma once

#include <cstdint>

namespace belfry {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // A generator whose seed the operating system chose.
  static Random from_entropy();

  std::uint64_t next();

  // Evenly from 0 to below - 1; `below` is at least 1.
  std::uint64_t below(std::uint64_t below);

  // Evenly from `first` to `last`, both included.
  std::int64_t between(std::int64_t first, std::int64_t last);

  // True once in `times` on average.
  bool one_in(std::uint64_t times) { return below(times) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace belfry
