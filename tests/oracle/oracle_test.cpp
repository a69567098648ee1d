// SPDX-License-Identifier: MIT
//
// next_occurrence() against the naive calendar, on random definitions. BELFRY_SEED chooses
// others; definition i of a run is made from seed + i alone, so the number that a failure
// prints brings the same definition back as the first one.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"
#include "recurrence/next_occurrence.h"
#include "tests/oracle/naive_calendar.h"

namespace belfry {
namespace {

using std::chrono::days;
using std::chrono::floor;
using std::chrono::sys_days;
using std::chrono::year;
using std::chrono::year_month_day;

constexpr std::uint64_t kSeedDefault = 20150408;
constexpr int kDefinitionsPerFrequency = 17000;
constexpr int kFirstRuns = 4000;
constexpr int kCounted = 2000;
constexpr std::size_t kStepsMax = 6;

constexpr Frequency kFrequencies[] = {Frequency::minute, Frequency::hour,  Frequency::day,
                                      Frequency::week,   Frequency::month, Frequency::year};
constexpr const char* kFrequencyNames[] = {"minute", "hour", "day", "week", "month", "year"};
constexpr const char* kDayNames[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

std::uint64_t first_seed() {
  const char* chosen = std::getenv("BELFRY_SEED");
  return chosen ? std::strtoull(chosen, nullptr, 10) : kSeedDefault;
}

const char* name_of(Frequency frequency) {
  return kFrequencyNames[static_cast<int>(frequency)];
}

// One question to both calendars.
struct Definition {
  Recurrence recurrence;
  Instant anchor;
  std::int64_t ran = 0;
  NaiveWindow window;
};

// Definitions as text, for whoever has to look at a failure.

std::string text_of(Instant instant) {
  const sys_days day = floor<days>(instant);
  const year_month_day date{day};
  const std::chrono::hh_mm_ss time{instant - day};
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:07}Z", int{date.year()},
                     unsigned{date.month()}, unsigned{date.day()}, time.hours().count(),
                     time.minutes().count(), time.seconds().count(), time.subseconds().count());
}

std::string text_of(std::optional<Instant> instant) {
  return instant ? text_of(*instant) : "nothing";
}

std::string part_text(const char* name, SmallSet set, int sign = 1) {
  if (set.empty()) return "";
  std::string text = fmt::format(" {}", name);
  for (int i = 0; i < 64; ++i) {
    if (set.contains(i)) text += fmt::format(" {}", sign * i);
  }
  return text + ";";
}

std::string text_of(const Schedule& schedule) {
  std::string text = part_text("minutes", schedule.minutes) + part_text("hours", schedule.hours) +
                     part_text("weekDays", schedule.week_days) +
                     part_text("monthDays", schedule.month_days) +
                     part_text("monthDays", schedule.month_days_from_end, -1) +
                     part_text("months", schedule.months);
  for (const auto& [day, n] : schedule.monthly_occurrences) {
    text += fmt::format(" {} {};", kDayNames[static_cast<int>(day)], n);
  }
  return text.empty() ? " none" : text;
}

std::string text_of(const Recurrence& recurrence) {
  return fmt::format("every {} {}, count {}, end {}\nschedule{}", recurrence.interval,
                     name_of(recurrence.frequency),
                     recurrence.count ? fmt::to_string(*recurrence.count) : "none",
                     text_of(recurrence.end_time), text_of(recurrence.schedule));
}

std::string text_of(const Definition& definition) {
  return fmt::format("{}\nanchor {}, ran {}\nwindow {} to {}", text_of(definition.recurrence),
                     text_of(definition.anchor), definition.ran, text_of(definition.window.after),
                     text_of(definition.window.until));
}

// Mostly one to three numbers, as people write them; sometimes any number of them.
SmallSet random_set(Random& random, int first, int last) {
  SmallSet set;
  const std::int64_t size = random.one_in(8) ? last - first + 1 : random.between(1, 3);
  for (std::int64_t i = 0; i < size; ++i) set.insert(static_cast<int>(random.between(first, last)));
  return set;
}

std::vector<MonthlyOccurrence> random_monthly_occurrences(Random& random) {
  std::vector<MonthlyOccurrence> occurrences(random.below(3) + 1);
  for (auto& [day, n] : occurrences) {
    day = static_cast<WeekDay>(random.below(7));
    n = static_cast<int>(random.between(-kOccurrenceInMonthMax, kOccurrenceInMonthMax));
  }
  return occurrences;
}

void add_days_of_month(Random& random, Schedule& schedule) {
  if (random.one_in(2)) schedule.month_days = random_set(random, 1, 31);
  if (random.one_in(3)) schedule.month_days_from_end = random_set(random, 1, 31);
  if (random.one_in(3)) schedule.monthly_occurrences = random_monthly_occurrences(random);
  if (random.one_in(3)) schedule.months = random_set(random, 1, 12);
}

// A leap day that is a certain weekday: 28 or 40 years apart, the longest search there is.
Schedule rare_schedule(Random& random) {
  Schedule schedule;
  schedule.months = SmallSet::single(2);
  schedule.month_days = SmallSet::single(29);
  schedule.monthly_occurrences = {{static_cast<WeekDay>(random.below(7)), 5}};
  return schedule;
}

// Only the parts that are allowed with the frequency.
Schedule random_schedule(Random& random, Frequency frequency) {
  Schedule schedule;
  if (frequency == Frequency::minute || random.one_in(4)) return schedule;
  if (random.one_in(2)) schedule.minutes = random_set(random, 0, 59);
  if (random.one_in(2)) schedule.hours = random_set(random, 0, 23);
  if (frequency == Frequency::week && !random.one_in(3)) {
    schedule.week_days = random_set(random, 0, 6);
  }
  if (frequency >= Frequency::month) add_days_of_month(random, schedule);
  return schedule;
}

int random_interval(Random& random) {
  if (random.one_in(3)) return 1;
  return static_cast<int>(random.one_in(6) ? random.between(1, kIntervalMax)
                                           : random.between(1, 12));
}

// Around the years where calendars go wrong, and over all that can be written.
year random_year(Random& random) {
  constexpr int kOddYears[] = {1, 4, 1600, 1900, 2000, 2015, 2016, 2100, 2400, 9996};
  if (random.one_in(8)) return year{kOddYears[random.below(std::size(kOddYears))]};
  if (random.one_in(12)) return year{static_cast<int>(random.between(9980, 9999))};
  if (random.one_in(12)) return year{static_cast<int>(random.between(1, 9999))};
  return year{static_cast<int>(random.between(1970, 2060))};
}

sys_days random_day(Random& random) {
  const year of = random_year(random);
  const sys_days january{of / 1 / 1};
  if (random.one_in(8)) return sys_days{of / 2 / std::chrono::last};
  if (random.one_in(8)) {
    return sys_days{of / static_cast<int>(random.between(1, 12)) / std::chrono::last};
  }
  return january + days{random.between(0, of.is_leap() ? 365 : 364)};
}

// On the minute, on the second, or with a fraction of it.
Ticks random_time_of_day(Random& random) {
  const std::chrono::minutes minute{random.one_in(8) ? 0 : random.between(0, 24 * 60 - 1)};
  if (random.one_in(2)) return minute;
  const Seconds second{random.between(0, 59)};
  if (random.one_in(2)) return minute + second;
  return minute + second + Ticks{random.between(0, 9'999'999)};
}

days period_of(const Recurrence& recurrence) {
  constexpr int kMinutes[] = {1, 60, 24 * 60, 7 * 24 * 60, 43830, 525949};
  const std::int64_t minutes = kMinutes[static_cast<int>(recurrence.frequency)];
  return days{minutes * recurrence.interval / (24 * 60)};
}

Instant within_writable_time(Instant instant) {
  return std::clamp(instant, kFirstInstant, kLastInstant);
}

// Before the anchor, at it, or some periods later and there near the start of one: the places
// where an occurrence is close, so that a short window is enough.
Instant random_after(Random& random, const Recurrence& recurrence, Instant anchor) {
  if (random.one_in(10)) return anchor;
  if (random.one_in(10)) return anchor - kOneTick;
  const days periods = period_of(recurrence) * random.between(0, random.one_in(4) ? 500 : 4);
  if (periods > floor<days>(kLastInstant - anchor)) return anchor;
  return anchor + periods + Ticks{random.between(Ticks{days{-40}}.count(), Ticks{days{8}}.count())};
}

days random_window(Random& random, Frequency frequency) {
  if (random.one_in(100)) return days{frequency == Frequency::minute ? 30 : 3660};
  if (frequency <= Frequency::hour) return days{random.between(1, 45)};
  return days{random.between(1, 400)};
}

void add_ends(Random& random, Recurrence& recurrence, Instant around) {
  if (random.one_in(6)) recurrence.count = random.between(1, 5);
  if (!random.one_in(5)) return;
  const Instant end = around + Ticks{random.between(0, Ticks{days{90}}.count())};
  // On the minute half of the time, where an occurrence may fall exactly on the end.
  recurrence.end_time = random.one_in(2) ? floor<std::chrono::minutes>(end) : end;
}

Definition random_definition(std::uint64_t seed, Frequency frequency) {
  Random random(seed);
  Definition made;
  made.recurrence.frequency = frequency;
  made.recurrence.interval = random_interval(random);
  made.recurrence.schedule = random_schedule(random, frequency);
  made.anchor = random_day(random) + random_time_of_day(random);
  days length = random_window(random, frequency);
  if (frequency >= Frequency::month && random.one_in(700)) {
    if (random.one_in(2)) made.recurrence.schedule = rare_schedule(random);
    // The calendar has repeated by then: what was not found never comes.
    length = days{146097 + 366};
  }
  const Instant after = within_writable_time(random_after(random, made.recurrence, made.anchor));
  made.window = {.after = after, .until = within_writable_time(after + length), .limit = kStepsMax};
  add_ends(random, made.recurrence, after);
  if (random.one_in(2)) made.ran = random.between(0, 6);
  return made;
}

// The promises of next_occurrence.h that need no second calendar.
void check_promises(const Definition& definition, Instant after, Instant answer) {
  EXPECT_LT(after, answer);
  EXPECT_LE(definition.anchor, answer);
  EXPECT_LE(answer, definition.recurrence.end_time.value_or(kLastInstant));
  EXPECT_LE(answer, kLastInstant);
}

// Asked one tick before an occurrence, the answer is that occurrence.
void check_from_just_before(const Definition& definition, std::int64_t ran, Instant occurrence) {
  const auto again =
      next_occurrence(definition.recurrence, definition.anchor, ran, occurrence - kOneTick);
  EXPECT_EQ(text_of(again), text_of(occurrence));
}

// An end exactly on an occurrence lets it run, an end one tick earlier does not.
void check_end_at(Definition definition, std::int64_t ran, Instant occurrence) {
  const Instant before = occurrence - kOneTick;
  auto& [recurrence, anchor, _, window] = definition;
  recurrence.end_time = occurrence;
  EXPECT_EQ(text_of(next_occurrence(recurrence, anchor, ran, before)), text_of(occurrence));
  recurrence.end_time = before;
  EXPECT_EQ(text_of(next_occurrence(recurrence, anchor, ran, before)), "nothing");
}

// After the last one that the naive calendar found in its window there is nothing more in it.
void check_rest(const Definition& definition, std::int64_t ran, Instant after) {
  const auto next = next_occurrence(definition.recurrence, definition.anchor, ran, after);
  if (!next) return;
  EXPECT_GT(*next, definition.window.until) << "not an occurrence: " << text_of(next);
  check_promises(definition, after, *next);
}

// Returns how many steps were compared.
std::size_t check_steps(const Definition& definition) {
  const auto& [recurrence, anchor, ran_before, window] = definition;
  const auto expected = naive_occurrences(recurrence, anchor, ran_before, window);
  std::int64_t ran = ran_before;
  Instant after = window.after;
  for (const Instant occurrence : expected) {
    const auto next = next_occurrence(recurrence, anchor, ran, after);
    EXPECT_EQ(text_of(next), text_of(occurrence));
    if (next != occurrence) return 0;
    check_promises(definition, after, *next);
    check_from_just_before(definition, ran, occurrence);
    check_end_at(definition, ran, occurrence);
    after = occurrence;
    ++ran;
  }
  if (expected.size() < window.limit) check_rest(definition, ran, after);
  return expected.size();
}

class Oracle : public testing::TestWithParam<Frequency> {};

// Whatever a user can write, the fast calendar says what the slow one says.
TEST_P(Oracle, AgreesWithNextOccurrence) {
  std::size_t steps = 0;
  for (int i = 0; i < kDefinitionsPerFrequency; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const Definition definition = random_definition(seed, GetParam());
    steps += check_steps(definition);
    if (HasFailure()) FAIL() << "BELFRY_SEED=" << seed << "\n" << text_of(definition);
  }
  // A generator that makes only definitions without occurrences would prove nothing.
  EXPECT_GT(steps, std::size_t{kDefinitionsPerFrequency});
}

Timing random_timing(const Definition& definition, Random& random) {
  Timing timing;
  if (!random.one_in(5)) timing.start_time = definition.anchor;
  if (!random.one_in(5)) timing.recurrence = definition.recurrence;
  // An end before `now` is refused before anybody asks.
  if (timing.recurrence && definition.recurrence.end_time <= definition.window.after) {
    timing.recurrence->end_time.reset();
  }
  return timing;
}

// A new job's first run: at once, at its start, or at the first time not yet over.
TEST_P(Oracle, AgreesWithFirstOccurrence) {
  for (int i = 0; i < kFirstRuns; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    const Definition definition = random_definition(seed, GetParam());
    const auto& [now, until, limit] = definition.window;
    Random random(seed);
    const Timing timing = random_timing(definition, random);

    const auto expected = naive_first_occurrence(timing, now, until);
    const auto first = first_occurrence(timing, now);
    if (expected || (first && *first <= until)) {
      EXPECT_EQ(text_of(first), text_of(expected));
    }
    if (HasFailure()) FAIL() << "BELFRY_SEED=" << seed << "\n" << text_of(definition);
  }
}

// How many times a job runs that nobody disturbs; more than its count is enough to know.
std::int64_t runs_of(const Definition& definition) {
  std::int64_t ran = 0;
  Instant after = definition.anchor - kOneTick;
  while (ran <= *definition.recurrence.count) {
    const auto next = next_occurrence(definition.recurrence, definition.anchor, ran, after);
    if (!next) break;
    check_promises(definition, after, *next);
    after = *next;
    ++ran;
  }
  return ran;
}

// From the first run to the last, a job with a count runs so many times and no more; fewer
// only if its end, or the end of the calendar, comes first.
TEST_P(Oracle, EndsWhenItsCountHasRun) {
  for (int i = 0; i < kCounted; ++i) {
    const std::uint64_t seed = first_seed() + static_cast<std::uint64_t>(i);
    Definition definition = random_definition(seed, GetParam());
    Recurrence& recurrence = definition.recurrence;
    recurrence.count = Random(seed).between(1, 20);
    EXPECT_LE(runs_of(definition), *recurrence.count);

    recurrence.schedule = {};
    recurrence.end_time.reset();
    if (period_of(recurrence) * 21 < floor<days>(kLastInstant - definition.anchor)) {
      EXPECT_EQ(runs_of(definition), *recurrence.count);
    }
    if (HasFailure()) FAIL() << "BELFRY_SEED=" << seed << "\n" << text_of(definition);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, Oracle, testing::ValuesIn(kFrequencies),
                         [](const auto& of) { return std::string(name_of(of.param)); });

}  // namespace
}  // namespace belfry
