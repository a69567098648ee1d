// SPDX-License-Identifier: MIT
//
// Guids as Azure's clients expect them, made of bits that the caller draws from Random.

#pragma once

#include <cstdint>
#include <string>

#include "base/digits.h"

namespace belfry {

// Version 4, variant 1, as RFC 9562 wants a random guid to look.
inline std::string guid_of(std::uint64_t high, std::uint64_t low) {
  high = (high & ~std::uint64_t{0xF000}) | 0x4000;
  low = (low & ~(std::uint64_t{3} << 62)) | (std::uint64_t{2} << 62);
  std::string text;
  text.reserve(36);
  append_hex<8>(text, high >> 32);
  text += '-';
  append_hex<4>(text, high >> 16);
  text += '-';
  append_hex<4>(text, high);
  text += '-';
  append_hex<4>(text, low >> 48);
  text += '-';
  append_hex<12>(text, low);
  return text;
}

}  // namespace belfry
