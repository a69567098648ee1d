// SPDX-License-Identifier: MIT

#include "model/attempt.h"

#include "base/assert.h"
#include "base/digits.h"

namespace belfry {
namespace {

// Invertible, so that two occurrences cannot meet; it only hides that the numbers count up.
std::uint64_t scrambled(std::uint64_t number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

std::string tag(JobId job, std::uint64_t number) {
  const std::uint64_t low = scrambled(number);
  const std::uint64_t high = scrambled(static_cast<std::uint64_t>(job) ^ low);
  std::string text;
  text.reserve(32);
  append_hex<16>(text, high);
  append_hex<16>(text, low);
  return text;
}

}  // namespace

const Action& action_of(const Job& job, ActionRole role) {
  if (role == ActionRole::main) return job.definition->action;
  ASSERT(job.definition->error_action);
  return *job.definition->error_action;
}

Attempt attempt_of(const Job& job) {
  ASSERT(job.next);
  return {job.id, job.next->occurrence, job.next->role, job.next->retry};
}

bool awaits(const Job& job, const Attempt& attempt) {
  return job.next && job.next->started && attempt_of(job) == attempt;
}

std::string occurrence_tag(JobId job, std::int64_t seq) {
  return tag(job, static_cast<std::uint64_t>(seq) << 1);
}

std::string idempotency_key(const Attempt& attempt) {
  const auto seq = static_cast<std::uint64_t>(attempt.occurrence.seq);
  return tag(attempt.job, (seq << 1) | (attempt.role == ActionRole::error ? 1 : 0));
}

}  // namespace belfry
