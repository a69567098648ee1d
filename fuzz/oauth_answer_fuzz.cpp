// SPDX-License-Identifier: MIT
//
// Any bytes as the answer of a token endpoint; the first says whether it is a success. A token
// that comes out can stand in a header, and a refusal never shows the secret that was sent.

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "dispatch/oauth_tokens.h"

namespace belfry {
namespace {

constexpr std::string_view kSecret = "hunter2";

void check(std::string_view input) {
  if (input.empty()) return;
  HttpReply reply;
  reply.status = input.front() == '2' ? 200 : 400;
  reply.body = std::string(input.substr(1));
  HttpResult result;
  result.what = std::move(reply);
  const auto answer = read_oauth_answer("login.test", result, kSecret);
  if (!answer) {
    ASSERT(!answer.error().message.empty());
    ASSERT(answer.error().message.find(kSecret) == std::string::npos);
    return;
  }
  ASSERT(!answer->token.empty() && answer->expires_in >= Seconds{0});
  ASSERT(std::all_of(answer->token.begin(), answer->token.end(),
                     [](char c) { return '!' <= c && c <= '~'; }));
}

}  // namespace
}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  belfry::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
