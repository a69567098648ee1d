// SPDX-License-Identifier: MIT

#include "tests/simulation/simulated_dispatcher.h"

#include <algorithm>

namespace belfry {

void SimulatedDispatcher::begin_step(const SendFaults& faults) {
  faults_ = faults;
  sends_.clear();
}

bool SimulatedDispatcher::send(const Attempt& attempt, const Job& job, Instant not_before) {
  const int nth = static_cast<int>(sends_.size());
  if (faults_.crash_before == nth) throw Crash{};
  const auto stored = store_.job(job.key);
  const bool durable = stored && *stored && awaits(**stored, attempt);
  const Mood mood = mood_of(job.id);
  const bool accepted = mood != Mood::full;
  const Ticks hold = std::max(not_before - time_.told(), Ticks{0});
  sends_.emplace_back(job.id, Sent{*job.next, time_.told() + hold, durable, accepted});
  if (accepted) put_on_wire(attempt, mood, hold);
  if (faults_.crash_after == nth) throw Crash{};
  return accepted;
}

Mood SimulatedDispatcher::mood_of(JobId job) {
  if (moody_ && (random_.one_in(12) || !moods_.contains(job))) {
    const auto mood = random_.below(10);
    moods_[job] = mood < 5 ? Mood::healthy : static_cast<Mood>(mood - 4);
  }
  const auto it = moods_.find(job);
  return it == moods_.end() ? Mood::healthy : it->second;
}

void SimulatedDispatcher::put_on_wire(const Attempt& attempt, Mood mood, Ticks hold) {
  ++accepted_;
  const Ticks latency_of_it = latency(mood);
  Outcome outcome;
  outcome.succeeded = latency_of_it < kAttemptTimeout && succeeds(mood);
  outcome.message = outcome.succeeded ? "Response status: OK" : "Response status: BadGateway";
  outcome.started = time_.told() + hold;
  outcome.ended = outcome.started + latency_of_it;
  wire_.emplace(time_.passed() + hold + latency_of_it, Answered{attempt, outcome});
}

Ticks SimulatedDispatcher::latency(Mood mood) {
  if (mood == Mood::hanging) return kAttemptTimeout;
  // In coarse steps, so that now and then several arrive together.
  if (mood == Mood::slow) return Seconds{random_.between(1, 59)};
  return Millis{100 * random_.between(1, 9)};
}

bool SimulatedDispatcher::succeeds(Mood mood) {
  if (mood == Mood::flaky) return random_.one_in(2);
  return mood != Mood::failing;
}

std::optional<Instant> SimulatedDispatcher::next_answer() const {
  if (wire_.empty()) return std::nullopt;
  return wire_.begin()->first;
}

std::vector<Answered> SimulatedDispatcher::take_answers() {
  std::vector<Answered> arrived;
  while (!wire_.empty() && wire_.begin()->first <= time_.passed()) {
    arrived.push_back(std::move(wire_.begin()->second));
    wire_.erase(wire_.begin());
  }
  return arrived;
}

bool SimulatedDispatcher::on_wire(const Attempt& attempt) const {
  return std::any_of(wire_.begin(), wire_.end(),
                     [&](const auto& entry) { return entry.second.attempt == attempt; });
}

}  // namespace belfry
