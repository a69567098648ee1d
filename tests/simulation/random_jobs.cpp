// SPDX-License-Identifier: MIT

#include "tests/simulation/random_jobs.h"

#include <algorithm>

namespace belfry {
namespace {

using std::chrono::minutes;

Action call() {
  HttpAction http;
  http.uri = "http://example.com/";
  http.method = "POST";
  Action action;
  action.what = http;
  return action;
}

int number(Random& random, int first, int last) {
  return static_cast<int>(random.between(first, last));
}

Instant near(Random& random, Instant now, const JobTaste& taste) {
  const auto reach = std::chrono::duration_cast<Millis>(taste.within).count();
  Instant instant = now + Millis{random.between(-reach / 2, reach)};
  // People write whole minutes; machines do not.
  if (!random.one_in(4)) instant = std::chrono::floor<minutes>(instant);
  return instant;
}

SmallSet some(Random& random, int first, int last, int most) {
  SmallSet set;
  for (int i = number(random, 1, most); i > 0; --i) set.insert(number(random, first, last));
  return set;
}

Schedule random_schedule(Random& random, Frequency frequency) {
  Schedule schedule;
  if (frequency == Frequency::minute || random.one_in(3)) return schedule;
  const int busiest = frequency == Frequency::hour ? 3 : 2;
  if (random.one_in(2)) schedule.minutes = some(random, 0, 59, busiest);
  if (random.one_in(2)) schedule.hours = some(random, 0, 23, 6);
  if (frequency == Frequency::week && !random.one_in(3)) {
    schedule.week_days = some(random, 0, 6, 4);
  }
  if (frequency >= Frequency::month && !random.one_in(3)) {
    // Days that every month has.
    schedule.month_days = some(random, 1, 28, 12);
    if (random.one_in(3)) schedule.month_days_from_end = some(random, 1, 28, 3);
  }
  return schedule;
}

Recurrence random_recurrence(Random& random, Instant now, const JobTaste& taste) {
  Recurrence recurrence;
  constexpr Frequency kOften[] = {Frequency::minute, Frequency::minute, Frequency::minute,
                                  Frequency::hour,   Frequency::hour,   Frequency::day,
                                  Frequency::week,   Frequency::month,  Frequency::year};
  recurrence.frequency = kOften[random.below(std::size(kOften))];
  recurrence.interval = number(random, 1, 3);
  if (recurrence.frequency == Frequency::minute) {
    recurrence.interval = number(random, std::max(1, taste.pace_minutes / 2), 90);
  }
  if (recurrence.frequency == Frequency::year) recurrence.interval = 1;
  recurrence.schedule = random_schedule(random, recurrence.frequency);
  if (random.one_in(4)) recurrence.count = number(random, 1, 6);
  if (random.one_in(5)) recurrence.end_time = near(random, now, taste);
  return recurrence;
}

std::optional<RetryPolicy> random_policy(Random& random) {
  if (random.one_in(3)) return std::nullopt;
  if (random.one_in(3)) return RetryPolicy{RetryType::none, {}, {}};
  RetryPolicy policy;
  if (!random.one_in(4)) policy.interval = Seconds{random.between(15, 1200)};
  if (!random.one_in(4)) policy.count = number(random, 1, 4);
  return policy;
}

Timing random_timing(Random& random, Instant now, const JobTaste& taste) {
  Timing timing;
  if (!random.one_in(3)) timing.start_time = near(random, now, taste);
  if (!random.one_in(4)) timing.recurrence = random_recurrence(random, now, taste);
  return timing;
}

std::optional<Action> random_error_action(Random& random) {
  if (!random.one_in(3)) return std::nullopt;
  Action action = call();
  if (random.one_in(2)) action.retry_policy = random_policy(random);
  return action;
}

}  // namespace

JobDefinition random_definition(Random& random, Instant now, const JobTaste& taste) {
  JobDefinition definition;
  definition.timing = random_timing(random, now, taste);
  definition.action = call();
  definition.action.retry_policy = random_policy(random);
  definition.error_action = random_error_action(random);
  return definition;
}

JobDefinition varied(Random& random, JobDefinition definition, Instant now, const JobTaste& taste) {
  switch (random.below(5)) {
    case 0:
      definition.timing = random_timing(random, now, taste);
      break;
    case 1:
      definition.action.retry_policy = random_policy(random);
      break;
    case 2:
      definition.error_action = random_error_action(random);
      break;
    case 3:
      if (definition.timing.recurrence) definition.timing.recurrence->count = random.between(1, 6);
      break;
    default:
      break;
  }
  return definition;
}

JobDefinition every(int interval, Frequency frequency) {
  JobDefinition definition = at_once();
  definition.timing.recurrence = Recurrence{};
  definition.timing.recurrence->frequency = frequency;
  definition.timing.recurrence->interval = interval;
  return definition;
}

JobDefinition at_once() {
  JobDefinition definition;
  definition.action = call();
  return definition;
}

JobDefinition once_at(Instant start) {
  JobDefinition definition = at_once();
  definition.timing.start_time = start;
  return definition;
}

JobDefinition with_retries(JobDefinition definition, int count, Ticks interval) {
  definition.action.retry_policy = RetryPolicy{RetryType::fixed, interval, count};
  return definition;
}

JobDefinition without_retries(JobDefinition definition) {
  definition.action.retry_policy = RetryPolicy{RetryType::none, {}, {}};
  return definition;
}

JobDefinition with_error_action(JobDefinition definition) {
  definition.error_action = call();
  return definition;
}

}  // namespace belfry
