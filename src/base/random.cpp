// SPDX-License-Identifier: MIT

#include "base/random.h"

#include <random>

#include "base/assert.h"

namespace belfry {

Random Random::from_entropy() {
  std::random_device device;
  return Random((std::uint64_t{device()} << 32) | device());
}

// SplitMix64 (Steele, Lea, Flood 2014): one addition and two multiplications, full period.
std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15;
  std::uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

std::uint64_t Random::below(std::uint64_t below) {
  ASSERT(below > 0);
  // The high half of a 128-bit product: no division, and a bias far below what tests can see.
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{next()} * below) >> 64);
}

std::int64_t Random::between(std::int64_t first, std::int64_t last) {
  ASSERT(first <= last);
  return first + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(last - first) + 1));
}

}  // namespace belfry
