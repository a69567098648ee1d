// SPDX-License-Identifier: MIT
//
// JwksCache keeps the public keys of one issuer. They are asked for when first needed, again
// when they are no longer fresh, and when a token names a key that is not among them, for the
// issuer may have a new one; but strangers can name keys at will, so never more often than
// kAskAgainAfter. However many wait, one request is under way. While the issuer cannot be
// reached the old keys are used, for a day at most.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "access/jwks.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/http_client.h"

namespace belfry {

// Where the issuer `issuer` says its keys are, from its metadata (OpenID Connect Discovery 1.0,
// 4.3); an error's message says what is wrong with them.
Result<std::string> read_jwks_address(std::string_view metadata, const std::string& issuer);

class JwksCache {
 public:
  struct Options {
    std::string issuer;
    std::string jwks_url;    // empty: found by asking the issuer
    Millis timeout{10'000};  // of one request
  };
  using Keys = std::shared_ptr<const JwtKeys>;
  using Got = std::function<void(const Result<Keys>&)>;

  static constexpr Ticks kFreshFor = std::chrono::minutes{15};
  static constexpr Ticks kUsableFor = std::chrono::hours{24};
  static constexpr Ticks kAskAgainAfter = std::chrono::seconds{30};  // after an answer
  static constexpr Ticks kBackOffMin = std::chrono::seconds{1};      // after a failure; doubled
  static constexpr Ticks kBackOffMax = std::chrono::minutes{5};
  static constexpr std::size_t kWaitingMax = 1'000;

  // Both must outlive it, and the client must have stopped when it goes.
  JwksCache(Options options, HttpClient& http, const Clock& clock);

  // Calls `got` once, at once or on a thread of the client's: with the key of that id among
  // the keys if the issuer has it. Error: there are no keys, or too many wait for them.
  void obtain(std::string_view key_id, Got got);

 private:
  using Fetched = std::function<void(Result<std::string>)>;

  bool may_ask(Instant now) const;
  void drop_keys_too_old(Instant now);
  void ask();
  void ask_for_keys(const std::string& url);
  void fetch(const std::string& url, Fetched fetched);
  void settle(Result<JwtKeys> answer);

  const Options options_;
  HttpClient& http_;
  const Clock& clock_;

  std::mutex mutex_;  // guards what follows
  Keys keys_;         // none: there are none that may be used
  Instant fetched_at_;
  Instant not_before_ = kFirstInstant;  // when the issuer may be asked again
  int failures_ = 0;                    // in a row
  bool asking_ = false;
  std::vector<Got> waiting_;
};

}  // namespace belfry
