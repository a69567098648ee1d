// SPDX-License-Identifier: MIT
//
// Sealer encrypts the secrets of a job for the store, and opens them again: AES-256-GCM with a
// random nonce each time. The job's id is authenticated with the text, so that a sealed blob
// that is moved to another job does not open.
//
// A sealed blob is: a version byte, the id of the key, the nonce, the ciphertext, the tag. With
// the key's id in front, "this is not the key" and "somebody changed this" are told apart, and
// several keys can be in use at a time. Any thread may call; copies share their keys.

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
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

// The id of the key that sealed this; of something else, anything.
std::string_view key_id_of(std::string_view sealed);

class Sealer {
 public:
  // The first key seals; every key opens what it sealed.
  explicit Sealer(const std::vector<SealingKey>& keys);

  // From now on the first of these seals. Keys that it had before stay, to open with: somebody
  // may just have read what they sealed.
  void take(const std::vector<SealingKey>& keys);

  Result<std::string> seal(JobId job, std::string_view text) const;
  Result<std::string> open(JobId job, std::string_view sealed) const;

  std::string sealing_key_id() const { return sealing_key()->id(); }

 private:
  using Key = std::shared_ptr<const SealingKey>;
  struct Ring {
    std::mutex mutex;
    std::vector<Key> keys;
  };
  Key find(std::string_view id) const;
  Key sealing_key() const;

  std::shared_ptr<Ring> ring_ = std::make_shared<Ring>();
  std::shared_ptr<evp_cipher_st> cipher_;
};

}  // namespace belfry
