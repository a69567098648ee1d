// SPDX-License-Identifier: MIT
//
// What the pure core costs, in instructions: the same number at every run, whatever else the
// machine does. tests/cost/cost.py runs this under callgrind and compares with its table. Every
// operation is done once before it is counted, so that what happens only the first time (symbols
// that are resolved, memory that is asked of the system) is no part of it.

#include <fmt/format.h>
#include <valgrind/callgrind.h>

#include <boost/json/serialize.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "engine/agenda.h"
#include "engine/engine.h"
#include "engine/settle.h"
#include "recurrence/next_occurrence.h"
#include "store/memory_store.h"
#include "wire/definition_json.h"
#include "wire/job_json.h"
#include "wire/resource_path.h"

namespace belfry {
namespace {

constexpr Instant kBegin{std::chrono::sys_days{std::chrono::year{2026} / 3 / 27}};
constexpr int kTimes = 200;
constexpr int kJobs = 1000;  // on the agenda, and in the store

// One dump per operation, which cost.py divides by the number at the end of its name.
template <typename Operation>
void count(const std::string& name, int times, Operation operation) {
  const std::string title = fmt::format("{}/{}", name, times);
  operation();
  CALLGRIND_ZERO_STATS;
  for (int i = 0; i < times; ++i) operation();
  CALLGRIND_DUMP_STATS_AT(title.c_str());
}

const char* const kJobText = R"({"properties":{
  "startTime":"2026-03-27T00:00:00Z",
  "action":{"type":"https","request":{"uri":"https://example.com/hooks/nightly","method":"POST",
      "headers":{"content-type":"application/json","x-team":"operations"},
      "body":"{\"hello\":\"world\",\"from\":\"belfry\",\"list\":[1,2,3,4,5,6,7,8,9]}"},
    "retryPolicy":{"retryType":"Fixed","retryInterval":"PT30S","retryCount":4},
    "errorAction":{"type":"http","request":{"uri":"http://example.com/failed","method":"POST"}}},
  "recurrence":{"frequency":"Week","interval":1,
    "schedule":{"weekDays":["Monday","Wednesday","Friday"],"hours":[10,22],"minutes":[0]}},
  "state":"Enabled"}})";

JobRequest read_text(std::string_view text) {
  Reading reading;
  JsonMemory memory;
  const auto body = parse_json(text, JsonDialect::strict, memory.get());
  ASSERT(body);
  JobRequest request = read_job(*body, reading);
  ASSERT(reading.errors.empty());
  return request;
}

Job job_of(std::int64_t number) {
  Job job;
  job.id = JobId{number + 1};
  job.key = JobKey{{"2d7f8cf5-6ee3-4d37-a1f7-3f6b2b7f3a55", "production", "backups"},
                   fmt::format("job{}", number)};
  JobDefinition definition = read_text(kJobText).definition;
  definition.timing.recurrence = Recurrence{};
  definition.timing.recurrence->frequency = Frequency::minute;
  job.definition = std::move(definition);
  job.gen = 1;
  job.defined_at = kBegin;
  job.covered_until = kBegin - kOneTick;
  job.last_seq = 1;
  job.next = DueAttempt{.due = kBegin, .occurrence = {kBegin, 1}};
  return job;
}

Outcome outcome_of(bool succeeded) {
  return {succeeded, "Http Action - Response from host 'example.com': 'OK' Response Headers: ...",
          kBegin, kBegin};
}

void count_calendar() {
  const auto count_steps = [](const std::string& name, const Recurrence& recurrence) {
    Instant at = kBegin;
    count(name, 10 * kTimes, [&] {
      const auto next = next_occurrence(recurrence, kBegin, 0, at);
      ASSERT(next);
      at = *next;
    });
  };
  count_steps("next_occurrence, week days", *read_text(kJobText).definition.timing.recurrence);
  Recurrence every_minute;
  every_minute.frequency = Frequency::minute;
  count_steps("next_occurrence, every minute", every_minute);
  Recurrence last_friday;
  last_friday.frequency = Frequency::month;
  last_friday.schedule.monthly_occurrences = {{WeekDay::friday, -1}};
  count_steps("next_occurrence, last friday", last_friday);
}

void count_policy() {
  const Job waiting = job_of(1);
  const Job started = begin(waiting, kBegin, CatchUp::latest).job;
  const Attempt attempt = attempt_of(started);
  count("begin", kTimes, [&] { begin(waiting, kBegin, CatchUp::latest); });
  count("settle, success", kTimes, [&] { settle(started, attempt, outcome_of(true), kBegin); });
  count("settle, retry", kTimes, [&] { settle(started, attempt, outcome_of(false), kBegin); });
}

void count_agenda() {
  Agenda agenda(kJobs + 1);
  std::vector<Job> jobs;
  for (int i = 0; i < kJobs; ++i) {
    jobs.push_back(job_of(i));
    jobs.back().next->due += i * Millis{1};
  }
  agenda.load(std::move(jobs));
  count("agenda, take and put back", kTimes, [&] {
    Job job = agenda.take_first();
    job.next->due += kJobs * Millis{1};
    agenda.update(std::move(job));
  });
}

void count_wire() {
  const Job job = job_of(1);
  const std::string stored = definition_text(job.definition);
  const std::string path = job_id(job.key);
  count("job, read from JSON", kTimes, [] { read_text(kJobText); });
  count("job, write to JSON", kTimes, [&] {
    JsonWriter out;
    write_job(out, job, kBegin);
  });
  count("definition, read from the store", kTimes, [&] { ASSERT(parse_definition(stored)); });
  count("resource path", kTimes, [&] { ASSERT(parse_resource_path(path)); });
}

// Takes everything; what it took is answered before the next step.
class PromptDispatcher final : public Dispatcher {
 public:
  bool send(const Attempt& attempt, const Job&, Instant) override {
    taken_.push_back(attempt);
    return true;
  }
  void answer_all(Engine& engine) {
    for (const Attempt& attempt : std::exchange(taken_, {})) {
      engine.report(attempt, outcome_of(true));
    }
  }

 private:
  std::vector<Attempt> taken_;
};

// All jobs are due every minute. A step settles the last minute's and begins this one's.
void count_engine() {
  MemoryStore store;
  JobCollection collection;
  collection.key = job_of(0).key->collection;
  collection.gen = 1;
  ASSERT(store.commit({PutCollection{collection}}));
  for (int i = 0; i < kJobs; ++i) ASSERT(store.commit({PutJob{job_of(i), kGenAbsent, {}}}));
  PromptDispatcher dispatcher;
  Engine engine(store, dispatcher, Random(1), {});
  Instant now = kBegin;
  const auto minute = [&] {
    engine.step(now);
    dispatcher.answer_all(engine);
    engine.step(now);
    now += std::chrono::minutes{1};
  };
  minute();
  ASSERT(engine.healthy());
  count("engine, a minute of 1000 firings", 2, minute);
}

}  // namespace
}  // namespace belfry

int main() {
  belfry::count_calendar();
  belfry::count_policy();
  belfry::count_agenda();
  belfry::count_wire();
  belfry::count_engine();
}
