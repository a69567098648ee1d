// SPDX-License-Identifier: MIT
//
// SmallSet is a set of numbers from 0 to 63 in one machine word: the hours, minutes and days
// of a schedule. "The next one from here" is one instruction, and a set that was written
// twice or in another order is the same set.

#pragma once

#include <bit>
#include <cstdint>
#include <optional>

#include "base/assert.h"

namespace belfry {

class SmallSet {
 public:
  constexpr SmallSet() = default;

  static constexpr SmallSet of_mask(std::uint64_t mask) {
    SmallSet set;
    set.mask_ = mask;
    return set;
  }

  // All numbers from `first` to `last`, both included.
  static constexpr SmallSet range(int first, int last) {
    return of_mask((~std::uint64_t{0} >> (63 - last)) & (~std::uint64_t{0} << first));
  }

  static constexpr SmallSet single(int number) { return of_mask(bit(number)); }

  void insert(int number) {
    ASSERT(0 <= number && number < 64);
    mask_ |= bit(number);
  }

  constexpr bool contains(int number) const { return (mask_ & bit(number)) != 0; }
  constexpr bool empty() const { return mask_ == 0; }
  constexpr int size() const { return std::popcount(mask_); }
  constexpr std::uint64_t mask() const { return mask_; }

  // The smallest member that is at least `number`.
  constexpr std::optional<int> first_from(int number) const {
    if (number > 63) return std::nullopt;
    const std::uint64_t rest = mask_ & (~std::uint64_t{0} << number);
    if (rest == 0) return std::nullopt;
    return std::countr_zero(rest);
  }

  constexpr SmallSet operator&(SmallSet other) const { return of_mask(mask_ & other.mask_); }
  constexpr SmallSet operator|(SmallSet other) const { return of_mask(mask_ | other.mask_); }
  bool operator==(const SmallSet&) const = default;

 private:
  static constexpr std::uint64_t bit(int number) { return std::uint64_t{1} << number; }

  std::uint64_t mask_ = 0;
};

}  // namespace belfry
