// SPDX-License-Identifier: MIT

#include "model/attempt.h"

#include <gtest/gtest.h>

#include <set>

namespace belfry {
namespace {

// Targets recognise a repeat by it: the same for retries, never the same for two occurrences.
TEST(OccurrenceTag, IsUniquePerOccurrenceAndRole) {
  std::set<std::string> tags;
  for (std::int64_t job = 1; job <= 100; ++job) {
    for (std::int64_t seq = 1; seq <= 100; ++seq) {
      EXPECT_TRUE(tags.insert(occurrence_tag(JobId{job << 22}, seq)).second);
    }
  }
  EXPECT_EQ(tags.begin()->size(), 32u);
}

TEST(IdempotencyKey, IsTheSameForRetriesAndAnotherForTheErrorAction) {
  Attempt attempt{JobId{7}, {Instant{}, 3}, ActionRole::main, 0};
  const std::string key = idempotency_key(attempt);
  attempt.retry = 4;
  EXPECT_EQ(idempotency_key(attempt), key);
  attempt.role = ActionRole::error;
  EXPECT_NE(idempotency_key(attempt), key);
}

}  // namespace
}  // namespace belfry
