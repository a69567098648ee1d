// SPDX-License-Identifier: MIT
//
// OAuthTokens obtains access tokens for jobs by the client-credentials grant (RFC 6749, 4.4)
// and keeps each until shortly before it expires. However many attempts wait for a token, it
// is asked for once.

#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/action.h"
#include "net/http_client.h"

namespace belfry {

inline constexpr std::string_view kTenantPlaceholder = "{tenant}";

struct OAuthOptions {
  std::string endpoint = "https://login.microsoftonline.com/{tenant}/oauth2/token";
};

class OAuthTokens {
 public:
  // An error's message is a sentence for the history, without its full stop.
  using Got = std::function<void(const Result<std::string>& token)>;

  // Both must outlive it. Tokens live in real time, and so must the clock.
  OAuthTokens(OAuthOptions options, HttpClient& http, const Clock& clock)
      : options_(std::move(options)), http_(http), clock_(clock) {}

  // Calls `got` once, at once or on a thread of the client's. False: too many are waiting
  // already, and nothing will be called.
  bool obtain(const ActiveDirectoryOAuth& who, Millis timeout, Got got);

  // The target would not have this token: the next attempt gets another.
  void forget(const ActiveDirectoryOAuth& who, const std::string& token);

  static constexpr std::size_t kWaitingMax = 1'000;  // for one token
  static constexpr std::size_t kKeptMax = 10'000;
  static constexpr std::size_t kAnswerBytesMax = 64 * 1024;

 private:
  struct Entry {
    std::string token;
    Instant good_until;
    std::vector<Got> waiting;
  };
  using Key = std::tuple<std::string, std::string, std::string, std::string>;

  static Key key_of(const ActiveDirectoryOAuth& who);
  Result<HttpCall> request_for(const ActiveDirectoryOAuth& who) const;
  bool ask(const ActiveDirectoryOAuth& who, Millis timeout);
  void answer(const ActiveDirectoryOAuth& who, const HttpResult& result);
  void give(const Key& key, const Result<std::string>& token, Instant good_until);
  void make_room();

  const OAuthOptions options_;
  HttpClient& http_;
  const Clock& clock_;
  std::mutex mutex_;  // guards what follows
  std::map<Key, Entry> entries_;
};

// For tests, and for those who show a token endpoint's answer: the token and how long it is
// good for, or why there is none. `secret` never stands in the error.
struct OAuthAnswer {
  std::string token;
  Seconds expires_in{0};
};
Result<OAuthAnswer> read_oauth_answer(std::string_view host, const HttpResult& result,
                                      std::string_view secret);

}  // namespace belfry
