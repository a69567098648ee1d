// SPDX-License-Identifier: MIT
//
// Who checks the checker? The record of a run in which all went well is doctored, one lie at a
// time, and every lie must be found.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/assert.h"
#include "tests/simulation/random_jobs.h"
#include "tests/simulation/simulation.h"

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

struct EventfulRun {
  Record record;
  Instant end;
};

// An engine that never sends again must not keep the test, nor fill the memory with steps.
void run_until_sent(Simulation& sim) {
  constexpr int kStepsMax = 10'000;
  for (int steps = 0; !sim.dispatcher().next_answer(); ++steps) {
    ASSERT_LT(steps, kStepsMax) << "nothing is sent";
    sim.run_until_next_step();
  }
}

// A day in which everything happens that leaves a trace of its own.
EventfulRun eventful_run() {
  Simulation sim(/*seed=*/5);
  sim.keep_record();
  JobDefinition job = with_error_action(with_retries(every(10, Frequency::minute), 2, minutes{3}));
  EXPECT_TRUE(sim.put("a", job));
  const JobId id = sim.stored("a").id;
  sim.dispatcher().set_mood(id, Mood::failing);
  sim.run_for(minutes{40});
  sim.dispatcher().set_mood(id, Mood::full);
  sim.run_for(minutes{20});
  sim.dispatcher().set_mood(id, Mood::healthy);
  sim.run_for(minutes{21});
  run_until_sent(sim);
  sim.crash();
  sim.run_for(minutes{9});
  sim.crash();
  sim.go_to(sim.time().passed() + hours{1});
  sim.run_for(minutes{20});
  run_until_sent(sim);
  job.action.retry_policy->count = 1;
  EXPECT_TRUE(sim.put("a", job));
  sim.run_for(minutes{5});
  sim.dispatcher().set_mood(id, Mood::failing);
  run_until_sent(sim);
  EXPECT_TRUE(sim.patch("a", job, /*enabled=*/false));
  sim.run_for(minutes{25});
  sim.dispatcher().set_mood(id, Mood::healthy);
  EXPECT_TRUE(sim.patch("a", job));
  sim.run_for(minutes{1});
  EXPECT_TRUE(sim.run("a"));
  sim.run_for(minutes{2});
  EXPECT_TRUE(sim.put("b", at_once()));
  sim.run_for(minutes{2});
  sim.end();
  EXPECT_TRUE(sim.checker().content()) << sim.checker().report();
  return {sim.record(), sim.time().told()};
}

// The first event of its kind for which `chosen` holds.
template <typename What>
Record::iterator find(Record& record, const std::function<bool(const What&)>& chosen) {
  const auto it = std::find_if(record.begin(), record.end(), [&](const Event& event) {
    const auto* what = std::get_if<What>(&event.what);
    return what != nullptr && chosen(*what);
  });
  ASSERT(it != record.end());
  return it;
}

template <typename What>
What& at(Record::iterator it) {
  return std::get<What>(it->what);
}

bool is_attempt(const Recorded& recorded) {
  return recorded.kind == RowKind::attempt;
}
bool is_overlap(const Recorded& recorded) {
  return recorded.kind == RowKind::overlap_gap;
}
bool is_absence(const Recorded& recorded) {
  return recorded.kind == RowKind::absence_gap;
}
bool is_note(const Recorded& recorded) {
  return recorded.kind == RowKind::note;
}
bool is_superseded(const Recorded& recorded) {
  return recorded.kind == RowKind::superseded;
}
bool is_accepted(const Sent& sent) {
  return sent.accepted;
}
bool is_refused(const Sent& sent) {
  return !sent.accepted;
}
bool waits_for_retry(const Saw& saw) {
  return saw.next && !saw.next->started && saw.next->retry > 0;
}
bool has_begun(const Saw& saw) {
  return saw.next && saw.next->started;
}
bool is_disabled(const Saw& saw) {
  return saw.state == JobState::disabled;
}
bool is_completed(const Saw& saw) {
  return saw.state == JobState::completed;
}

struct Lie {
  const char* name;
  std::function<void(Record&)> tell;
};

template <typename What>
std::function<void(Record&)> without(bool (*chosen)(const What&)) {
  return [chosen](Record& record) { record.erase(find<What>(record, chosen)); };
}

template <typename What>
std::function<void(Record&)> twice(bool (*chosen)(const What&)) {
  return [chosen](Record& record) {
    const auto it = find<What>(record, chosen);
    const Event again = *it;
    record.insert(it, again);
  };
}

template <typename What>
std::function<void(Record&)> changed(bool (*chosen)(const What&), void (*change)(What&)) {
  return [chosen, change](Record& record) { change(at<What>(find<What>(record, chosen))); };
}

// A minute later than the calendar says, and consistently so.
void shift_first_occurrence(Record& record) {
  const Occurrence first = at<Sent>(find<Sent>(record, is_accepted)).attempt.occurrence;
  for (Event& event : record) {
    const auto shift = [&](Occurrence& occurrence) {
      if (occurrence == first) occurrence.scheduled_for += minutes{1};
    };
    if (auto* saw = std::get_if<Saw>(&event.what); saw && saw->next) shift(saw->next->occurrence);
    if (auto* sent = std::get_if<Sent>(&event.what)) shift(sent->attempt.occurrence);
    if (auto* row = std::get_if<Recorded>(&event.what)) shift(row->row.occurrence);
  }
}

// The attempt of another occurrence goes out while one is on the wire.
void send_a_second(Record& record) {
  const auto it = find<Sent>(record, is_accepted);
  Event second = *it;
  ++std::get<Sent>(second.what).attempt.occurrence.seq;
  record.insert(it + 1, second);
}

// One more retry than the policy allows, from the row of the last one on.
void retry_once_more(Record& record) {
  const auto it = find<Saw>(record, [](const Saw& saw) {
    return saw.next && !saw.next->started && saw.next->role == ActionRole::error &&
           saw.next->retry == 0;
  });
  at<Saw>(it).next->role = ActionRole::main;
  at<Saw>(it).next->retry = 3;
}

void send_early(Record& record) {
  at<Sent>(find<Sent>(record, is_accepted)).leaves -= seconds{1};
}

void begin_early(Record& record) {
  const auto it = find<Saw>(record, [](const Saw& saw) {
    return saw.next && saw.next->started && saw.status.executions > 0 && saw.next->retry == 0;
  });
  it->now -= seconds{1};
  at<Saw>(it).next->started = it->now;
}

void stop_watching_too_soon(Record& record) {
  const auto last = std::find_if(record.rbegin(), record.rend(), [](const Event& event) {
    return std::holds_alternative<Recorded>(event.what);
  });
  record.erase(last.base() - 1, record.end());
}

const std::vector<Lie>& lies() {
  static const std::vector<Lie> kLies = {
      {"a send is dropped", without<Sent>(is_accepted)},
      {"a refusal is dropped", without<Sent>(is_refused)},
      {"an attempt's row is dropped", without<Recorded>(is_attempt)},
      {"an attempt's row is doubled", twice<Recorded>(is_attempt)},
      {"an overlap's row is dropped", without<Recorded>(is_overlap)},
      {"an overlap's row is doubled", twice<Recorded>(is_overlap)},
      {"an absence's row is dropped", without<Recorded>(is_absence)},
      {"a note is dropped", without<Recorded>(is_note)},
      {"a note is doubled", twice<Recorded>(is_note)},
      {"the answer of a superseded attempt is dropped", without<Recorded>(is_superseded)},
      {"a send is repeated without a crash", twice<Sent>(is_accepted)},
      {"the crash between two sends is hidden",
       [](Record& record) { record.erase(find<Crashed>(record, [](auto&) { return true; })); }},
      {"a send is shifted early", send_early},
      {"a start is shifted early", begin_early},
      {"an occurrence is shifted against the calendar", shift_first_occurrence},
      {"two attempts are alive", send_a_second},
      {"one retry too many", retry_once_more},
      {"a send came before its start was stored",
       changed<Sent>(is_accepted, [](Sent& sent) { sent.durable = false; })},
      {"a retry waits too long",
       changed<Saw>(waits_for_retry, [](Saw& saw) { saw.next->due += kOneTick; })},
      {"a retry waits too short",
       changed<Saw>(waits_for_retry, [](Saw& saw) { saw.next->due -= kOneTick; })},
      {"a write is forgotten",
       [](Record& record) {
         record.erase(find<Wrote>(record, [](auto& w) { return w.kind == WriteKind::patch; }));
       }},
      {"a run is forgotten",
       [](Record& record) {
         record.erase(find<Wrote>(record, [](auto& w) { return w.kind == WriteKind::run; }));
       }},
      {"a gap counts one less",
       changed<Recorded>(is_absence, [](Recorded& it) { --it.row.gap->count; })},
      {"a gap ends too soon",
       changed<Recorded>(is_overlap, [](Recorded& it) { it.row.gap->last -= minutes{10}; })},
      {"a gap begins too late",
       changed<Recorded>(is_absence,
                         [](Recorded& it) { it.row.occurrence.scheduled_for += minutes{10}; })},
      {"a row says what nobody answered",
       changed<Recorded>(is_attempt,
                         [](Recorded& it) { it.row.status = HistoryStatus::completed; })},
      {"a row has the time of another",
       changed<Recorded>(is_attempt, [](Recorded& it) { it.row.ended += kOneTick; })},
      {"an execution is counted twice",
       changed<Saw>(has_begun, [](Saw& saw) { ++saw.status.executions; })},
      {"a failure is not counted",
       changed<Saw>(waits_for_retry, [](Saw& saw) { --saw.status.failures; })},
      {"a fault is not counted", changed<Saw>([](const Saw& saw) { return saw.status.faults > 0; },
                                              [](Saw& saw) { --saw.status.faults; })},
      {"a disabled job waits for something",
       changed<Saw>(is_disabled, [](Saw& saw) { saw.next = DueAttempt{}; })},
      {"what was open is dropped", changed<Saw>(is_disabled, [](Saw& saw) { saw.next.reset(); })},
      {"what was open is not suspended",
       changed<Saw>(is_disabled, [](Saw& saw) { saw.next->suspended = false; })},
      {"a disabled job is enabled by itself",
       changed<Saw>(is_disabled, [](Saw& saw) { saw.state = JobState::enabled; })},
      {"a job ends before its time",
       changed<Saw>(waits_for_retry, [](Saw& saw) { saw.state = JobState::faulted; })},
      {"a completed job comes back",
       changed<Saw>(is_completed, [](Saw& saw) { saw.state = JobState::enabled; })},
      {"a number goes back", changed<Saw>([](const Saw& saw) { return saw.last_seq > 3; },
                                          [](Saw& saw) { saw.last_seq = 1; })},
      {"a gen is skipped", changed<Saw>(waits_for_retry, [](Saw& saw) { ++saw.gen; })},
      {"an answer is invented", changed<Answered>([](const Answered&) { return true; },
                                                  [](Answered& it) { ++it.attempt.retry; })},
      {"the run goes on unseen", stop_watching_too_soon},
  };
  return kLies;
}

TEST(Checker, IsContentWithTheTruth) {
  const EventfulRun run = eventful_run();
  EXPECT_EQ(faults_of(run.record, {}, run.end), std::vector<std::string>());
}

TEST(Checker, FindsEveryLie) {
  const EventfulRun run = eventful_run();
  for (const Lie& lie : lies()) {
    Record doctored = run.record;
    lie.tell(doctored);
    EXPECT_FALSE(faults_of(doctored, {}, run.end).empty()) << lie.name;
  }
}

TEST(Checker, FindsThatNothingCameOfALaterOccurrence) {
  const EventfulRun run = eventful_run();
  EXPECT_FALSE(faults_of(run.record, {}, run.end + hours{1}).empty());
}

}  // namespace
}  // namespace belfry
