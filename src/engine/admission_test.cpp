// SPDX-License-Identifier: MIT

#include "engine/admission.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

const Plans kPlans = Plans::azure();

JobCollection allowing(MaxRecurrence max_recurrence) {
  JobCollection collection;
  collection.key.name = "backups";
  collection.quota = {.max_job_count = 5, .max_recurrence = max_recurrence};
  return collection;
}

SmallSet set_of(std::initializer_list<int> numbers) {
  SmallSet set;
  for (const int number : numbers) set.insert(number);
  return set;
}

Recurrence every(int interval, Frequency frequency, Schedule schedule = {}) {
  Recurrence recurrence;
  recurrence.frequency = frequency;
  recurrence.interval = interval;
  recurrence.schedule = std::move(schedule);
  return recurrence;
}

Schedule at(std::initializer_list<int> hour, std::initializer_list<int> minute) {
  Schedule schedule;
  schedule.hours = set_of(hour);
  schedule.minutes = set_of(minute);
  return schedule;
}

Schedule on_week_days(std::initializer_list<int> week_days) {
  Schedule schedule;
  schedule.week_days = set_of(week_days);
  return schedule;
}

Schedule on_month_days(std::initializer_list<int> month_days) {
  Schedule schedule;
  schedule.month_days = set_of(month_days);
  return schedule;
}

Schedule on_fridays(std::initializer_list<int> which) {
  Schedule schedule;
  for (const int n : which) schedule.monthly_occurrences.push_back({WeekDay::friday, n});
  return schedule;
}

TEST(ShortestGap, WithoutAScheduleItIsThePeriod) {
  EXPECT_EQ(shortest_gap(every(5, Frequency::minute)), minutes{5});
  EXPECT_EQ(shortest_gap(every(2, Frequency::week)), days{14});
  EXPECT_EQ(shortest_gap(every(3, Frequency::month)), days{3 * 28});
}

TEST(ShortestGap, OfMinutesGoesRoundTheHourOnlyWhereTheNextHourFollows) {
  EXPECT_EQ(shortest_gap(every(1, Frequency::hour, at({}, {0, 15, 30, 45}))), minutes{15});
  EXPECT_EQ(shortest_gap(every(1, Frequency::hour, at({}, {0, 50}))), minutes{10});
  EXPECT_EQ(shortest_gap(every(2, Frequency::hour, at({}, {0, 50}))), minutes{50});
  EXPECT_EQ(shortest_gap(every(1, Frequency::hour, at({9, 17}, {0, 50}))), minutes{50});
  EXPECT_EQ(shortest_gap(every(1, Frequency::hour, at({9, 17}, {}))), hours{8});
}

TEST(ShortestGap, OfTimesGoesRoundTheDayOnlyWhereTheNextDayFollows) {
  EXPECT_EQ(shortest_gap(every(1, Frequency::day, at({9}, {0, 50}))), minutes{50});
  EXPECT_EQ(shortest_gap(every(1, Frequency::day, at({9, 10}, {0, 50}))), minutes{10});
  EXPECT_EQ(shortest_gap(every(1, Frequency::day, at({0, 23}, {30}))), hours{1});
  EXPECT_EQ(shortest_gap(every(2, Frequency::day, at({0, 23}, {30}))), hours{23});
  EXPECT_EQ(shortest_gap(every(1, Frequency::day, at({0, 23}, {0, 59}))), minutes{1});
  EXPECT_EQ(shortest_gap(every(1, Frequency::day, at({}, {30}))), hours{1}) << "every hour";
  EXPECT_EQ(shortest_gap(every(1, Frequency::day, at({9}, {}))), days{1});
}

TEST(ShortestGap, OfWeekDaysGoesRoundTheWeekOnlyWhereTheNextWeekFollows) {
  EXPECT_EQ(shortest_gap(every(1, Frequency::week, on_week_days({0, 6}))), days{1});
  EXPECT_EQ(shortest_gap(every(2, Frequency::week, on_week_days({0, 6}))), days{6});
  EXPECT_EQ(shortest_gap(every(1, Frequency::week, on_week_days({1, 4}))), days{3});
  EXPECT_EQ(shortest_gap(every(1, Frequency::week, on_week_days({1}))), days{7});
}

TEST(ShortestGap, OfMonthDaysKnowsHowMonthsEnd) {
  EXPECT_EQ(shortest_gap(every(1, Frequency::month, on_month_days({1, 31}))), days{1});
  EXPECT_EQ(shortest_gap(every(1, Frequency::month, on_month_days({1, 28}))), days{1});
  EXPECT_EQ(shortest_gap(every(1, Frequency::month, on_month_days({10, 25}))), days{13});
  EXPECT_EQ(shortest_gap(every(1, Frequency::month, on_month_days({15}))), days{28});
  Schedule last_and_first = on_month_days({1});
  last_and_first.month_days_from_end = set_of({1});
  EXPECT_EQ(shortest_gap(every(1, Frequency::month, last_and_first)), days{1});
}

TEST(ShortestGap, OfMonthlyOccurrences) {
  EXPECT_EQ(shortest_gap(every(1, Frequency::month, on_fridays({MonthlyOccurrence::kEvery}))),
            days{7});
  EXPECT_EQ(shortest_gap(every(1, Frequency::month, on_fridays({1, 3}))), days{14});
  EXPECT_EQ(shortest_gap(every(1, Frequency::month, on_fridays({1}))), days{28});
  Schedule friday_13th = on_fridays({MonthlyOccurrence::kEvery});
  friday_13th.month_days = set_of({13});
  EXPECT_EQ(shortest_gap(every(1, Frequency::month, friday_13th)), days{28});
}

TEST(ShortestGap, OfAYearIsThatOfItsMonths) {
  Schedule twice = on_month_days({1});
  twice.months = set_of({1, 3});
  EXPECT_EQ(shortest_gap(every(1, Frequency::year, twice)), days{59});
  EXPECT_EQ(shortest_gap(every(1, Frequency::year, on_month_days({1}))), days{365});
}

TEST(Admission, ExactlyAsOftenAsTheQuotaAllowsIsAdmitted) {
  JobDefinition definition;
  definition.timing.recurrence = every(60, Frequency::minute);
  const JobCollection hourly = allowing({Frequency::hour, 1});
  EXPECT_TRUE(admit(definition, hourly, kPlans.standard));
  definition.timing.recurrence = every(59, Frequency::minute);
  const Status refused = admit(definition, hourly, kPlans.standard);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::conflict);
  EXPECT_EQ(refused.error().target, "properties.recurrence");
  EXPECT_NE(refused.error().message.find("every 59 minutes"), std::string::npos);
  EXPECT_NE(refused.error().message.find("every 60 minutes"), std::string::npos);
}

// Whoever is refused is told who can change that: the collection's owner, or the operator.
TEST(Admission, ARefusalSaysHowMoreIsAllowed) {
  const auto refused = [](const MaxRecurrence& quota, const Plan& plan) {
    JobDefinition definition;
    definition.timing.recurrence = every(1, Frequency::minute);
    return admit(definition, allowing(quota), plan).error().message;
  };
  const std::string ask = "properties.quota.maxRecurrence allows more, down to every 1 minutes.";
  EXPECT_TRUE(refused({Frequency::hour, 1}, kPlans.standard).ends_with(ask));
  EXPECT_TRUE(refused({Frequency::hour, 1}, Plans::open().free).ends_with(ask));
  const std::string operators = R"(The server's setting plans = "open" allows more.)";
  EXPECT_TRUE(refused({Frequency::hour, 1}, kPlans.free).ends_with(operators));

  JobCollection collection = allowing({});
  collection.quota.max_job_count = 50;
  EXPECT_TRUE(full(collection, kPlans.standard).message.ends_with(operators));
  EXPECT_TRUE(full(collection, Plans::open().standard).message.ends_with("up to 1000000."));
  collection.quota.max_job_count = kJobsPerCollectionMax;
  EXPECT_TRUE(full(collection, Plans::open().standard).message.ends_with("(maxJobCount)."))
      << "nobody may have more";
}

// The frequency says "day", the schedule means "every quarter of an hour".
TEST(Admission, AScheduleIsJudgedByWhatItMeans) {
  JobDefinition definition;
  definition.timing.recurrence = every(1, Frequency::day, at({}, {0, 15, 30, 45}));
  EXPECT_FALSE(admit(definition, allowing({Frequency::hour, 1}), kPlans.standard));
  EXPECT_TRUE(admit(definition, allowing({Frequency::minute, 15}), kPlans.standard));
}

TEST(Admission, AMonthlyJobFitsAMonthlyQuota) {
  JobDefinition definition;
  definition.timing.recurrence = every(1, Frequency::month, on_month_days({31}));
  EXPECT_TRUE(admit(definition, allowing({Frequency::month, 1}), kPlans.standard));
  EXPECT_FALSE(admit(definition, allowing({Frequency::month, 2}), kPlans.standard));
}

TEST(Admission, AJobThatRunsOnceRecursNever) {
  EXPECT_TRUE(admit({}, allowing({Frequency::month, 12}), kPlans.standard));
}

TEST(Admission, AuthenticationIsNotForFreeCollections) {
  JobDefinition definition;
  HttpAction call;
  call.authentication = BasicAuthentication{"anna", Secret("secret")};
  definition.action.what = call;
  EXPECT_TRUE(admit(definition, allowing({}), kPlans.standard));
  const Status refused = admit(definition, allowing({}), kPlans.free);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid);
  EXPECT_EQ(refused.error().target, "properties.action.request.authentication");
}

TEST(Admission, AnErrorActionIsJudgedLikeTheMainOne) {
  JobDefinition definition;
  definition.error_action.emplace();
  definition.error_action->retry_policy = RetryPolicy{RetryType::fixed, minutes{59}, 1};
  const Status refused = admit(definition, allowing({}), kPlans.free);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().target, "properties.action.errorAction.retryPolicy.retryInterval");
  EXPECT_NE(refused.error().message.find("60 minutes"), std::string::npos);
  definition.error_action->retry_policy->interval = hours{1};
  EXPECT_TRUE(admit(definition, allowing({}), kPlans.free));
}

TEST(Admission, TheShortestRetryIntervalIsNamedInAUnitThatFits) {
  JobDefinition definition;
  definition.action.retry_policy = RetryPolicy{RetryType::fixed, seconds{14}, 1};
  const Status refused = admit(definition, allowing({}), kPlans.standard);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().target, "properties.action.retryPolicy.retryInterval");
  EXPECT_NE(refused.error().message.find("15 seconds"), std::string::npos);
}

}  // namespace
}  // namespace belfry
