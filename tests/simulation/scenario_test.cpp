// SPDX-License-Identifier: MIT
//
// Single scenes, each for a mistake that chance alone might take long to make, or that was
// made once. Whatever a test asks for itself, the checker watches every step of it.

#include <gtest/gtest.h>

#include "tests/simulation/random_jobs.h"
#include "tests/simulation/simulation.h"

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// A simulation that is judged when its test is over.
class Scenario : public testing::Test {
 protected:
  explicit Scenario(EngineOptions options = simulated_engine_options()) : sim_(7, options) {}

  void TearDown() override {
    sim_.end();
    EXPECT_TRUE(sim_.checker().content()) << sim_.checker().report();
  }

  void set_mood(const std::string& name, Mood mood) {
    sim_.dispatcher().set_mood(sim_.stored(name).id, mood);
  }
  bool on_wire(const std::string& name) {
    const Job job = sim_.stored(name);
    return job.next && sim_.dispatcher().on_wire(attempt_of(job));
  }
  void run_until_sent(const std::string& name) {
    constexpr int kStepsMax = 10'000;
    for (int step = 0; !on_wire(name); ++step) {
      ASSERT_LT(step, kStepsMax) << name << " is never sent";
      sim_.run_until_next_step();
    }
  }
  void step_with(CommitFault fault) { sim_.step({.store = {.commit = fault}}); }

  Simulation sim_;
};

JobDefinition every_minute() {
  return without_retries(every(1, Frequency::minute));
}

// At least once sent, exactly once recorded.
TEST_F(Scenario, CrashAfterSendRepeatsTheSendNotTheHistory) {
  ASSERT_TRUE(sim_.put("a", every_minute()));
  run_until_sent("a");
  sim_.crash();
  sim_.run_for(seconds{30});
  EXPECT_EQ(sim_.sends("a", 1), 2);
  EXPECT_EQ(sim_.history("a").size(), 1u);
}

TEST_F(Scenario, WhatWasStartedAndNeverSentIsSentAfterACrash) {
  ASSERT_TRUE(sim_.put("a", every_minute()));
  step_with(CommitFault::crash_after);
  EXPECT_EQ(sim_.sends("a", 1), 0);
  sim_.run_for(seconds{30});
  EXPECT_EQ(sim_.sends("a", 1), 1);
}

// The start was stored though nobody said so: it must be sent, and only once.
TEST_F(Scenario, ALostAnswerOfTheStoreLosesAndRepeatsNothing) {
  ASSERT_TRUE(sim_.put("a", every_minute()));
  step_with(CommitFault::lost_applied);
  sim_.run_for(seconds{30});
  EXPECT_EQ(sim_.sends("a", 1), 1);
  EXPECT_EQ(sim_.history("a").size(), 1u);
}

TEST_F(Scenario, AnOutcomeOutlivesAFailureOfTheStore) {
  ASSERT_TRUE(sim_.put("a", every_minute()));
  run_until_sent("a");
  sim_.go_to(sim_.next_wake());
  for (int i = 0; i < 5; ++i) sim_.step({.store = {.down = true}});
  EXPECT_TRUE(sim_.history("a").empty());
  sim_.run_for(seconds{30});
  EXPECT_EQ(sim_.sends("a", 1), 1);
  EXPECT_EQ(sim_.history("a").size(), 1u);
}

// The agenda still had the job: it was begun, and so stored again, after its deletion had
// been answered.
TEST_F(Scenario, AJobThatIsDeletedWhenItIsDueIsGone) {
  ASSERT_TRUE(sim_.put("a", once_at(sim_.time().told() + minutes{1})));
  sim_.go_to(sim_.time().passed() + minutes{1});
  ASSERT_TRUE(sim_.remove("a"));
  EXPECT_FALSE(*sim_.store().truth().job(Simulation::key("a")));
}

TEST_F(Scenario, ACollectionThatIsDeletedWhenItsJobIsDueIsGone) {
  ASSERT_TRUE(sim_.put("a", once_at(sim_.time().told() + minutes{1})));
  sim_.go_to(sim_.time().passed() + minutes{1});
  ASSERT_TRUE(sim_.ask(DeleteCollectionCommand{Simulation::first_collection().key}));
  EXPECT_TRUE(sim_.dispatcher().sends().empty());
}

// Forgetting the old jobs of the collection forgot the new ones with them.
TEST_F(Scenario, ACollectionThatIsMadeAgainInOneStepRunsItsNewJobs) {
  ASSERT_TRUE(sim_.put("a", every_minute()));
  const JobDefinition later = once_at(sim_.time().told() + minutes{5});
  sim_.clerk().ask(PutJobCommand{Simulation::key("a"), later});
  sim_.clerk().ask(DeleteCollectionCommand{Simulation::first_collection().key});
  sim_.clerk().ask(PutCollectionCommand{Simulation::first_collection(), {}});
  ASSERT_TRUE(sim_.ask(PutJobCommand{Simulation::key("a"), later}));
  sim_.run_for(minutes{6});
  EXPECT_EQ(sim_.stored("a").state, JobState::completed);
}

// The collection was stored as disabled while its jobs went on.
TEST_F(Scenario, ACollectionIsNeverHalfDisabled) {
  ASSERT_TRUE(sim_.put("a", every(1, Frequency::hour)));
  sim_.run_for(minutes{1});
  for (int read = 0; read < 4; ++read) {
    const SetCollectionStateCommand disable{Simulation::first_collection().key,
                                            CollectionState::disabled};
    const bool done = sim_.ask(disable, {.store = {.failing_read = read}}).has_value();
    EXPECT_EQ(sim_.stored("a").next.has_value(), !done);
    ASSERT_TRUE(sim_.set_state(CollectionState::enabled));
    sim_.run_for(minutes{1});
  }
}

TEST_F(Scenario, AFullTargetIsAskedAgainUntilItTakesTheOccurrence) {
  ASSERT_TRUE(sim_.put("a", once_at(sim_.time().told() + minutes{1})));
  set_mood("a", Mood::full);
  sim_.run_for(minutes{1} + seconds{10});
  EXPECT_FALSE(sim_.stored("a").status.last_execution);
  set_mood("a", Mood::healthy);
  sim_.run_for(seconds{5});
  EXPECT_EQ(sim_.stored("a").state, JobState::completed);
}

// It may have reached its target before the crash. Taken back, it would have been recorded as
// passed over, or have come again with another id.
TEST_F(Scenario, ARefusalAfterACrashKeepsTheIdOfWhatMayHaveBeenSent) {
  ASSERT_TRUE(sim_.put("a", every_minute()));
  run_until_sent("a");
  sim_.crash();
  set_mood("a", Mood::full);
  sim_.run_for(minutes{3});
  EXPECT_TRUE(sim_.history("a").empty());
  set_mood("a", Mood::healthy);
  sim_.run_for(seconds{5});
  EXPECT_GE(sim_.sends("a", 1), 2);
  EXPECT_EQ(sim_.history("a").at(0).status, HistoryStatus::completed);
}

// The start was taken back, and due again at a time before the one it was planned for.
TEST_F(Scenario, NothingIsSentEarlyWhenTheClockIsPutBack) {
  const Instant planned = sim_.time().told() + hours{2};
  ASSERT_TRUE(sim_.put("a", once_at(planned)));
  set_mood("a", Mood::full);
  sim_.run_for(hours{2});
  sim_.set_clock_by(-hours{1});
  set_mood("a", Mood::healthy);
  sim_.run_for(minutes{30});
  EXPECT_FALSE(sim_.stored("a").status.last_execution);
  sim_.run_for(minutes{31});
  EXPECT_GE(*sim_.stored("a").status.last_execution, planned);
}

// It was due when it was begun, and does not wait to be due again.
TEST_F(Scenario, WhatWasBegunIsNotPutOffWhenTheClockIsPutBack) {
  ASSERT_TRUE(sim_.put("a", every_minute()));
  step_with(CommitFault::crash_after);
  sim_.set_clock_by(-hours{1});
  sim_.run_for(seconds{30});
  EXPECT_EQ(sim_.sends("a", 1), 1);
  EXPECT_EQ(sim_.history("a").size(), 1u);
}

TEST_F(Scenario, DowntimeFiresTheLatestAndRecordsTheRest) {
  ASSERT_TRUE(sim_.put("a", every(10, Frequency::minute)));
  sim_.run_for(minutes{5});
  sim_.crash();
  sim_.go_to(sim_.time().passed() + hours{1});
  sim_.run_for(seconds{5});
  const auto rows = sim_.history("a");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[1].status, HistoryStatus::postponed);
  EXPECT_EQ(rows[1].gap->count, 5);
  EXPECT_EQ(rows[2].occurrence.scheduled_for, rows[0].occurrence.scheduled_for + hours{1});
}

TEST_F(Scenario, WhatPassesWhileAnAttemptIsTriedIsOneRow) {
  ASSERT_TRUE(sim_.put("a", with_retries(every(1, Frequency::minute), 2, minutes{2})));
  set_mood("a", Mood::failing);
  sim_.run_for(minutes{5});
  const auto rows = sim_.history("a");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[3].gap->count, 4);
}

// What the user sees until then: its outcome is unknown.
TEST_F(Scenario, AnAnswerTakesThePlaceOfTheNoteThatStoodForIt) {
  ASSERT_TRUE(sim_.put("a", every_minute()));
  run_until_sent("a");
  ASSERT_TRUE(sim_.put("a", every(1, Frequency::day)));
  EXPECT_NE(sim_.history("a").at(0).message.find("unknown"), std::string::npos);
  sim_.run_for(seconds{5});
  EXPECT_EQ(sim_.history("a").size(), 1u);
  EXPECT_EQ(sim_.history("a").at(0).status, HistoryStatus::completed);
}

TEST_F(Scenario, ItDoesSoAlsoWhenTheStoreLostTheAnswerToTheChange) {
  ASSERT_TRUE(sim_.put("a", every_minute()));
  run_until_sent("a");
  EXPECT_FALSE(sim_.ask(PutJobCommand{Simulation::key("a"), every(1, Frequency::day)},
                        {.store = {.commit = CommitFault::lost_applied}}));
  sim_.run_for(minutes{2});
  EXPECT_EQ(sim_.history("a").at(0).status, HistoryStatus::completed);
}

TEST_F(Scenario, ItDoesSoAlsoWhenTheStoreFailedAsItCame) {
  ASSERT_TRUE(sim_.put("a", every_minute()));
  run_until_sent("a");
  ASSERT_TRUE(sim_.put("a", every(1, Frequency::day)));
  sim_.go_to(sim_.next_wake());
  step_with(CommitFault::unavailable);
  sim_.run_for(seconds{5});
  EXPECT_EQ(sim_.history("a").at(0).status, HistoryStatus::completed);
}

// 200 was answered: it must run, whatever becomes of the timing.
TEST_F(Scenario, ARunThatWasAnsweredSurvivesAPatch) {
  ASSERT_TRUE(sim_.put("a", every(1, Frequency::day)));
  sim_.run_for(minutes{1});
  sim_.clerk().ask(RunJobCommand{Simulation::key("a")});
  ASSERT_TRUE(sim_.ask(PatchJobCommand{Simulation::key("a"), once_at(sim_.time().told() + hours{9}),
                                       true, sim_.stored("a").gen + 1}));
  sim_.run_for(minutes{1});
  EXPECT_EQ(sim_.stored("a").status.executions, 2);
}

TEST_F(Scenario, AnErrorActionThatIsTakenAwayIsTriedNoFurther) {
  const JobDefinition plain = with_retries(every(1, Frequency::hour), 1, minutes{1});
  ASSERT_TRUE(sim_.put("a", with_error_action(plain)));
  set_mood("a", Mood::failing);
  sim_.run_for(minutes{2});
  ASSERT_EQ(sim_.stored("a").next->role, ActionRole::error);
  ASSERT_TRUE(sim_.patch("a", plain));
  EXPECT_FALSE(sim_.stored("a").next->open());
}

// It reports while the job rests: whoever disables it loses nothing of what was begun.
TEST_F(Scenario, WhatIsOnTheWireWhenTheJobIsDisabledIsSettled) {
  const JobDefinition job = with_error_action(with_retries(at_once(), 1, minutes{2}));
  ASSERT_TRUE(sim_.put("a", job));
  set_mood("a", Mood::failing);
  run_until_sent("a");
  ASSERT_TRUE(sim_.ask(SetJobStateCommand{Simulation::key("a"), false}));
  sim_.run_for(hours{1});
  EXPECT_EQ(sim_.history("a").size(), 1u);
  EXPECT_EQ(sim_.stored("a").status.failures, 1);
  EXPECT_EQ(sim_.stored("a").next->retry, 1);
  ASSERT_TRUE(sim_.ask(SetJobStateCommand{Simulation::key("a"), true}));
  sim_.run_for(minutes{1});
  EXPECT_EQ(sim_.history("a").size(), 3u) << "the retry and the error action";
  EXPECT_EQ(sim_.stored("a").state, JobState::enabled) << "which fails, and is tried again";
}

// It may have reached its target, so it is not another occurrence; but the user said no.
TEST_F(Scenario, WhatWasSentBeforeACrashIsSentAgainWhenTheJobIsEnabledAndNotBefore) {
  ASSERT_TRUE(sim_.put("a", every_minute()));
  run_until_sent("a");
  ASSERT_TRUE(sim_.set_state(CollectionState::disabled));
  sim_.crash();
  sim_.run_for(hours{1});
  EXPECT_EQ(sim_.sends("a", 1), 1);
  ASSERT_TRUE(sim_.set_state(CollectionState::enabled));
  sim_.run_for(seconds{5});
  EXPECT_EQ(sim_.sends("a", 1), 2);
  EXPECT_EQ(sim_.history("a").at(0).occurrence.seq, 1);
}

TEST_F(Scenario, AnOutcomeIsAwaitedAlsoWhenTheStoreFailedAsItsJobWasDisabled) {
  for (const CommitFault fault : {CommitFault::lost_applied, CommitFault::unavailable}) {
    const std::string name = fault == CommitFault::unavailable ? "a" : "b";
    ASSERT_TRUE(sim_.put(name, at_once()));
    run_until_sent(name);
    if (fault == CommitFault::unavailable) {
      ASSERT_TRUE(sim_.ask(SetJobStateCommand{Simulation::key(name), false}));
      sim_.go_to(sim_.next_wake());
      step_with(fault);
    } else {
      EXPECT_FALSE(
          sim_.ask(SetJobStateCommand{Simulation::key(name), false}, {.store = {.commit = fault}}));
    }
    sim_.run_for(seconds{5});
    EXPECT_EQ(sim_.stored(name).state, JobState::completed);
    EXPECT_EQ(sim_.history(name).size(), 1u);
  }
}

TEST_F(Scenario, ARunDoesNotTakeThePlaceOfThePlannedOccurrence) {
  const Instant planned = sim_.time().told() + hours{1};
  ASSERT_TRUE(sim_.put("a", with_retries(once_at(planned), 1, minutes{2})));
  sim_.run_for(minutes{59});
  set_mood("a", Mood::failing);
  ASSERT_TRUE(sim_.run("a"));
  sim_.run_for(minutes{10});
  EXPECT_EQ(sim_.stored("a").status.executions, 2);
  EXPECT_EQ(sim_.history("a").back().occurrence.scheduled_for, planned);
}

// Otherwise disabling and enabling would buy further occurrences.
TEST_F(Scenario, AnAttemptOnTheWireCountsWhenTheJobIsDisabled) {
  JobDefinition twice = every(1, Frequency::hour);
  twice.timing.recurrence->count = 2;
  ASSERT_TRUE(sim_.put("a", twice));
  run_until_sent("a");
  ASSERT_TRUE(sim_.patch("a", twice, /*enabled=*/false));
  ASSERT_TRUE(sim_.patch("a", twice));
  sim_.run_for(hours{5});
  EXPECT_EQ(sim_.stored("a").state, JobState::completed);
  EXPECT_EQ(sim_.stored("a").status.executions, 2);
}

// The history has to say what became of a planned time, also when a user's write came first.
TEST_F(Scenario, WhatWasDueWhenTheJobWasReplacedHasARow) {
  ASSERT_TRUE(sim_.put("a", every(1, Frequency::hour)));
  sim_.run_for(minutes{1});
  sim_.go_to(sim_.time().passed() + hours{3});
  ASSERT_TRUE(sim_.put("a", every(1, Frequency::day)));
  const auto rows = sim_.history("a");
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].gap->count, 3);
}

TEST_F(Scenario, WhileItIsHeldTheEngineStartsNothing) {
  ASSERT_TRUE(sim_.put("a", every(10, Frequency::minute)));
  sim_.run_for(minutes{1});
  sim_.hold_for(minutes{30});
  sim_.run_for(minutes{29});
  EXPECT_EQ(sim_.stored("a").status.executions, 1);
  EXPECT_FALSE(sim_.stored("a").next->started) << "by a clock that is doubted";
  EXPECT_EQ(sim_.history("a").size(), 1u) << "nothing was missed yet";
  sim_.run_for(minutes{2});
  EXPECT_EQ(sim_.stored("a").status.executions, 2);
}

// Ten jobs at once, one after the other through one place.
class NarrowScenario : public Scenario {
 protected:
  NarrowScenario() : Scenario(narrow()) {}
  static EngineOptions narrow() {
    EngineOptions options = simulated_engine_options();
    options.in_flight_max = 1;
    options.agenda_max = 2;
    options.starts_per_step_max = 1;
    return options;
  }
};

TEST_F(NarrowScenario, JobsThatAreDueTogetherAllRun) {
  const Instant noon = sim_.time().told() + hours{3};
  for (char name = 'a'; name <= 'j'; ++name) {
    ASSERT_TRUE(sim_.put(std::string(1, name), once_at(noon)));
  }
  sim_.run_for(hours{4});
  for (char name = 'a'; name <= 'j'; ++name) {
    EXPECT_EQ(sim_.stored(std::string(1, name)).state, JobState::completed);
  }
}

// Steps are taken for other reasons too: none of them may begin another.
TEST_F(NarrowScenario, NoMoreIsOnTheWireThanMayBe) {
  const Instant noon = sim_.time().told() + hours{3};
  for (const char* name : {"a", "b", "c"}) ASSERT_TRUE(sim_.put(name, once_at(noon)));
  sim_.go_to(sim_.time().passed() + hours{3});
  for (int step = 0; step < 3; ++step) {
    sim_.step();
    EXPECT_EQ(sim_.store().truth().started(10)->size(), 1u);
  }
}

// A step that begins everything at once would keep users and answers waiting.
class SmallSteps : public Scenario {
 protected:
  SmallSteps() : Scenario(small()) {}
  static EngineOptions small() {
    EngineOptions options = simulated_engine_options();
    options.starts_per_step_max = 2;
    return options;
  }
};
TEST_F(SmallSteps, NoMoreIsBegunInAStepThanMayBe) {
  const Instant noon = sim_.time().told() + hours{3};
  for (const char* name : {"a", "b", "c", "d", "e"}) ASSERT_TRUE(sim_.put(name, once_at(noon)));
  sim_.go_to(sim_.time().passed() + hours{3});
  for (const std::size_t begun : {2u, 4u, 5u}) {
    sim_.step();
    EXPECT_EQ(sim_.store().truth().started(10)->size(), begun);
  }
}

class CatchUpScenario : public Scenario {
 protected:
  explicit CatchUpScenario(CatchUp catch_up) : Scenario(options(catch_up)) {}
  static EngineOptions options(CatchUp catch_up) {
    EngineOptions options = simulated_engine_options();
    options.catch_up = catch_up;
    return options;
  }
  void be_away_for_an_hour() {
    ASSERT_TRUE(sim_.put("a", every(10, Frequency::minute)));
    sim_.run_for(minutes{5});
    sim_.crash();
    sim_.go_to(sim_.time().passed() + hours{1});
    sim_.run_for(minutes{2});
  }
};

class CatchUpAll : public CatchUpScenario {
 protected:
  CatchUpAll() : CatchUpScenario(CatchUp::all) {}
};
TEST_F(CatchUpAll, FiresEachOfTheMissedOnes) {
  be_away_for_an_hour();
  EXPECT_EQ(sim_.stored("a").status.executions, 7);
}

class CatchUpNone : public CatchUpScenario {
 protected:
  CatchUpNone() : CatchUpScenario(CatchUp::none) {}
};
TEST_F(CatchUpNone, EndsAJobThatHasNothingLeftWithoutAFault) {
  ASSERT_TRUE(sim_.put("a", once_at(sim_.time().told() + minutes{10})));
  sim_.crash();
  sim_.go_to(sim_.time().passed() + hours{1});
  sim_.run_for(minutes{1});
  EXPECT_EQ(sim_.stored("a").state, JobState::completed);
  EXPECT_EQ(sim_.history("a").at(0).status, HistoryStatus::postponed);
}

// Nobody was away: its user had it rest.
TEST_F(CatchUpNone, RunsWhatRestedWhenItsTimeCame) {
  ASSERT_TRUE(sim_.put("a", once_at(sim_.time().told() + minutes{10})));
  ASSERT_TRUE(sim_.ask(SetJobStateCommand{Simulation::key("a"), false}));
  sim_.run_for(hours{1});
  ASSERT_TRUE(sim_.ask(SetJobStateCommand{Simulation::key("a"), true}));
  sim_.run_for(minutes{1});
  EXPECT_EQ(sim_.stored("a").status.executions, 1);
}

TEST_F(CatchUpNone, FiresNoneOfTheMissedOnes) {
  be_away_for_an_hour();
  EXPECT_EQ(sim_.stored("a").status.executions, 1);
  EXPECT_EQ(sim_.history("a").at(1).gap->count, 6);
}

}  // namespace
}  // namespace belfry
