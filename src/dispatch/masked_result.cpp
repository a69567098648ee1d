// SPDX-License-Identifier: MIT

#include "dispatch/masked_result.h"

#include <utility>

#include "model/history.h"

namespace belfry {
namespace {

// Of a text of any length no more is looked at than is needed for what is kept.
std::string kept(const std::string& text, std::size_t kept_max, const SecretMask& mask) {
  return mask.masked(std::string_view(text).substr(0, kept_max + mask.reach()), kept_max);
}

HttpFailure masked(HttpFailure failure, const SecretMask& mask) {
  failure.detail = kept(failure.detail, kHistoryBodyBytesMax, mask);
  return failure;
}

HttpReply masked(const HttpReply& reply, const SecretMask& mask) {
  return {reply.status, kept(reply.header_lines, kHistoryMessageBytesMax, mask),
          kept(reply.body, kHistoryBodyBytesMax, mask), reply.body_cut};
}

// The token that a broker was given is made anew each time: a signature is known by its name.
AmqpRefusal masked(const AmqpRefusal& refusal, SecretMask mask) {
  mask.add(signature_in(refusal.description));
  return {refusal.word, kept(refusal.condition, kHistoryBodyBytesMax, mask),
          kept(refusal.description, kHistoryBodyBytesMax, mask)};
}

}  // namespace

HttpResult masked(const HttpResult& result, const SecretMask& mask) {
  if (mask.empty()) return result;
  HttpResult out{result.what, result.waited};
  if (const auto* reply = std::get_if<HttpReply>(&result.what)) out.what = masked(*reply, mask);
  if (const auto* failure = std::get_if<HttpFailure>(&result.what)) {
    out.what = masked(*failure, mask);
  }
  return out;
}

AmqpOutcome masked(const AmqpOutcome& outcome, const SecretMask& mask) {
  if (const auto* refusal = std::get_if<AmqpRefusal>(&outcome)) return masked(*refusal, mask);
  if (const auto* failure = std::get_if<HttpFailure>(&outcome)) return masked(*failure, mask);
  return outcome;
}

std::size_t body_kept_for(const SecretMask& mask) {
  return mask.empty() ? 0 : kHistoryBodyBytesMax + mask.reach();
}

}  // namespace belfry
