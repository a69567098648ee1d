// SPDX-License-Identifier: MIT
//
// Sealer keeps what stands in a store from those who can write its files and have not the key. It
// encrypts the secrets of a job, and opens them again: AES-256-GCM with a random nonce each time,
// for one place: a job, the role of the action and where that action goes. What is moved to another
// place does not open. And it makes MACs, by which a row is known to be Belfry's own: HMAC-SHA256
// with a key that is derived from the sealing key.
//
// A sealed blob is: a version byte, the id of the key, the nonce, the ciphertext, the tag; a MAC is
// the id of the key and the tag. With the key's id in front, "this is not the key" and "somebody
// changed this" are told apart, and several keys can be in use at a time. Any thread may call;
// copies share their keys.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"

struct evp_cipher_st;
struct evp_mac_ctx_st;

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

// The id of the key that sealed this, or that made this MAC; of something else, anything.
std::string_view key_id_of(std::string_view sealed);
std::string_view key_id_of_mac(std::string_view mac);

// What the secrets of an action are sealed for.
struct SecretPlace {
  JobId job{};
  ActionRole role = ActionRole::main;
  std::string destination;  // model/destination.h
};

class Sealer {
 public:
  // The first key seals; every key opens what it sealed.
  explicit Sealer(const std::vector<SealingKey>& keys);

  // From now on the first of these seals. Keys that it had before stay, to open with: somebody
  // may just have read what they sealed.
  void take(const std::vector<SealingKey>& keys);

  Result<std::string> seal(const SecretPlace& place, std::string_view text) const;
  Result<std::string> open(const SecretPlace& place, std::string_view sealed) const;

  // What version 0.1 sealed: for a job alone, the secrets of both roles in one.
  static bool is_of_both_roles(std::string_view sealed);
  Result<std::string> open_of_both_roles(JobId job, std::string_view sealed) const;

  std::string mac(std::string_view text) const;
  // Whether this is the MAC of the text. One that is missing will do until all must be there.
  enum class Verdict { genuine, missing, forged, key_missing };
  Verdict judge(std::string_view text, std::optional<std::string_view> mac) const;

  // Every row of the store has its MAC: from now on one without is forged.
  void demand_macs() { ring_->macs_demanded = true; }
  bool demands_macs() const { return ring_->macs_demanded; }

  std::string sealing_key_id() const;

 private:
  struct KeyInUse {
    SealingKey key;
    std::shared_ptr<evp_mac_ctx_st> hmac;  // with its key; copied for each use
  };
  using Key = std::shared_ptr<const KeyInUse>;
  struct Ring {
    std::mutex mutex;
    std::vector<Key> keys;
    std::atomic<bool> macs_demanded = false;
  };
  Key find(std::string_view id) const;
  Key sealing_key() const;
  Result<std::string> open_with(JobId job, std::string_view associated,
                                std::string_view sealed) const;

  std::shared_ptr<Ring> ring_ = std::make_shared<Ring>();
  std::shared_ptr<evp_cipher_st> cipher_;
};

}  // namespace belfry
