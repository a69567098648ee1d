// SPDX-License-Identifier: MIT
//
// How an attempt of an HttpAction becomes an HTTP call: the user's request, and the headers by
// which a target knows which job calls it, for which occurrence, and whether it has seen this
// one before. A header that the user set wins over ours.

#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/attempt.h"
#include "net/http_client_call.h"

namespace belfry {

// What is the same for all calls of a server.
struct HttpSenderIdentity {
  std::string user_agent;  // "Belfry/0.1.0"
  std::string region;      // empty: no x-ms-region
};

// Chance for the ids that differ with every send.
struct SendIds {
  std::uint64_t request_high = 0;
  std::uint64_t request_low = 0;
  std::uint64_t span = 0;
};

// What is called, without making the call of it. Fails where http_call_of() does.
Result<HttpOrigin> origin_of(const HttpAction& action);

// An error says in its message why this action cannot be called at all. Of the ways to
// authenticate, Basic is in the call; a certificate and a token must be added.
Result<HttpCall> http_call_of(const HttpAction& action, const Attempt& attempt, const Job& job,
                              const HttpSenderIdentity& identity, const SendIds& ids);

void add_bearer_token(HttpCall& call, const std::string& token);

// Those of our headers that the user did not set.
void add_headers(HttpCall& call, const HttpHeaders& headers);

// As the live service wrote it: UTC without saying so, a fraction only where there is one.
std::string expected_execution_time(Instant scheduled_for);

}  // namespace belfry
