// SPDX-License-Identifier: MIT
//
// Sealer encrypts the secrets of a job for the store, and opens them again: AES-256-GCM with a
// random nonce each time. The job's id is authenticated with the text, so that a sealed blob
// that is moved to another job does not open.
//
// A sealed blob is: a version byte, the id of the key, the nonce, the ciphertext, the tag. With
// the key's id in front, "this is not the key" and "somebody changed this" are told apart; and
// a second key may one day open what an older one sealed. Any thread may call.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"

struct evp_cipher_st;

namespace belfry {

inline constexpr std::size_t kSealingKeyBytes = 32;
inline constexpr std::size_t kSealingKeyIdBytes = 8;

class SealingKey {
 public:
  using Bytes = std::array<std::uint8_t, kSealingKeyBytes>;

  explicit SealingKey(const Bytes& bytes);
  static Result<SealingKey> random();

  const Bytes& bytes() const { return bytes_; }
  // Says which key it is and nothing about it: the beginning of a hash.
  const std::string& id() const { return id_; }

 private:
  Bytes bytes_;
  std::string id_;
};

// The id of a key as a person reads it.
std::string shown_key_id(std::string_view id);

class Sealer {
 public:
  // The first key seals; every key opens what it sealed.
  explicit Sealer(std::vector<SealingKey> keys);

  Result<std::string> seal(JobId job, std::string_view text) const;
  Result<std::string> open(JobId job, std::string_view sealed) const;

  bool has_key(std::string_view id) const { return find(id) != nullptr; }
  const SealingKey& sealing_key() const { return keys_.front(); }

 private:
  const SealingKey* find(std::string_view id) const;

  std::vector<SealingKey> keys_;
  std::shared_ptr<evp_cipher_st> cipher_;
};

}  // namespace belfry
