// SPDX-License-Identifier: MIT

#include "tests/simulation/clerk.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "store/store_samples.h"

namespace belfry {

namespace {

Event event_of(JobId job, decltype(Event::what) what) {
  return {.step = 0, .now = {}, .job = job, .what = std::move(what)};
}

// Of a job that is gone in the end nobody can see what became of it before.
void drop_removed(std::vector<Event>& events) {
  std::set<JobId> removed;
  for (const Event& event : events) {
    if (std::holds_alternative<Removed>(event.what)) removed.insert(event.job);
  }
  std::erase_if(events, [&](const Event& event) {
    return removed.contains(event.job) && !std::holds_alternative<Removed>(event.what);
  });
}

}  // namespace

KnownCollection* Clerk::find(const CollectionKey& key) {
  const auto it = collections_.find(folded(key));
  return it == collections_.end() ? nullptr : &it->second;
}

KnownJob* Clerk::find(const JobKey& key) {
  KnownCollection* const collection = find(key.collection);
  if (collection == nullptr) return nullptr;
  const auto it = collection->jobs.find(folded(key.name));
  return it == collection->jobs.end() ? nullptr : &it->second;
}

// What a command that took effect makes of the clerk's books, and of which jobs it is told.
struct Effect {
  Clerk& clerk;
  const Reply* reply;  // none if it was never answered
  std::vector<Event>& events;
  std::set<std::string>& changed_later;  // jobs whose reply is no longer the last word

  void operator()(const PutCollectionCommand& command) const { set(command.collection); }

  void operator()(const SetCollectionStateCommand& command) const {
    JobCollection collection = clerk.find(command.key)->collection;
    collection.state = command.state;
    set(collection);
  }

  void operator()(const DeleteCollectionCommand& command) const {
    const KnownCollection* const known = clerk.find(command.key);
    if (known == nullptr) return;
    for (const auto& [name, job] : known->jobs) events.push_back(event_of(job.id, Removed{}));
    clerk.collections_.erase(folded(command.key));
  }

  void operator()(const PutJobCommand& command) const {
    KnownCollection& collection = *clerk.find(command.key.collection);
    auto [it, added] = collection.jobs.try_emplace(folded(command.key.name));
    KnownJob& job = it->second;
    if (added) {
      const auto id = id_of(command.key);
      // Put and deleted again in one step whose answers were lost: nothing is left of it.
      if (!id) {
        collection.jobs.erase(it);
        return;
      }
      job.key = command.key;
      job.id = *id;
    }
    const bool same =
        !added && job.definition == *command.definition && job.enabled == command.enabled;
    write(job, WriteKind::put, command.definition, command.enabled);
    if (!same) return;
    // It changes nothing, unless the job had ended: the answer tells, or else the store.
    --job.gen;
    if (reply != nullptr) {
      job.gen = std::clamp(reply->job->gen, job.gen, job.gen + 1);
    } else {
      ++job.perhaps_replaced;
    }
  }

  void operator()(const PatchJobCommand& command) const {
    write(*clerk.find(command.key), WriteKind::patch, command.definition, command.enabled);
  }

  void operator()(const SetJobStateCommand& command) const {
    KnownJob& job = *clerk.find(command.key);
    if (job.enabled == command.enabled) return;
    write(job, WriteKind::patch, JobDefinition(job.definition), command.enabled);
  }

  void operator()(const DeleteJobCommand& command) const {
    const KnownJob* const job = clerk.find(command.key);
    if (job == nullptr) return;
    events.push_back(event_of(job->id, Removed{}));
    clerk.find(command.key.collection)->jobs.erase(folded(command.key.name));
  }

  void operator()(const KeepCertificatesCommand& command) const {
    KnownJob& job = *clerk.find(command.key);
    write(job, WriteKind::touch, command.definition, job.enabled);
  }

  void operator()(const RunJobCommand& command) const {
    KnownJob& job = *clerk.find(command.key);
    write(job, WriteKind::run, JobDefinition(job.definition), job.enabled);
  }

  void operator()(const NoteRefusalCommand&) const {}

 private:
  std::optional<JobId> id_of(const JobKey& key) const {
    if (reply != nullptr) return reply->job->id;
    const auto stored = *clerk.truth_.job(key);
    if (!stored) return std::nullopt;
    return stored->id;
  }

  void write(KnownJob& job, WriteKind kind, const JobDefinition& definition, bool enabled) const {
    const KnownCollection& collection = *clerk.find(job.key.collection);
    ++job.gen;
    job.definition = definition;
    job.enabled = enabled;
    changed_later.erase(folded(job.key));
    events.push_back(event_of(
        job.id, Wrote{.kind = kind,
                      .definition = std::make_shared<const JobDefinition>(definition),
                      .enabled = enabled,
                      .collection_runs = collection.runs(),
                      .retry_interval_default =
                          clerk.plans_.of(collection.collection.sku).retry_interval_default}));
  }

  void set(const JobCollection& wanted) const {
    KnownCollection& known = clerk.collections_[folded(wanted.key)];
    const bool ran = known.runs();
    const bool exists = known.collection.gen != 0;
    const bool other_plan = known.collection.sku != wanted.sku;
    const std::int64_t gen = known.collection.gen + 1;
    known.collection = wanted;
    known.collection.gen = gen;
    if (!exists || (ran == known.runs() && !other_plan)) return;
    const WriteKind kind = ran == known.runs() ? WriteKind::touch
                           : known.runs()      ? WriteKind::resume
                                               : WriteKind::suspend;
    for (auto& [name, job] : known.jobs) {
      write(job, kind, JobDefinition(job.definition), job.enabled);
      changed_later.insert(folded(job.key));
    }
  }
};

// Did a command happen that was never answered? Asked before it is entered in the books.
struct Doubt {
  Clerk& clerk;

  bool operator()(const PutCollectionCommand& command) const {
    return collection_changed(command.collection.key);
  }
  bool operator()(const SetCollectionStateCommand& command) const {
    return collection_changed(command.key);
  }
  bool operator()(const DeleteCollectionCommand& command) const {
    return !*clerk.truth_.collection(command.key);
  }
  bool operator()(const PutJobCommand& command) const { return job_changed(command.key); }
  bool operator()(const PatchJobCommand& command) const { return job_changed(command.key); }
  bool operator()(const SetJobStateCommand& command) const { return job_changed(command.key); }
  bool operator()(const RunJobCommand& command) const { return job_changed(command.key); }
  bool operator()(const KeepCertificatesCommand& command) const { return job_changed(command.key); }
  bool operator()(const DeleteJobCommand& command) const { return !*clerk.truth_.job(command.key); }
  bool operator()(const NoteRefusalCommand&) const { return false; }

 private:
  bool collection_changed(const CollectionKey& key) const {
    const auto stored = *clerk.truth_.collection(key);
    const KnownCollection* const known = clerk.find(key);
    return stored && stored->gen != (known != nullptr ? known->collection.gen : 0);
  }
  bool job_changed(const JobKey& key) const {
    const auto stored = *clerk.truth_.job(key);
    const KnownJob* const known = clerk.find(key);
    return stored && stored->gen != (known != nullptr ? known->gen : 0);
  }
};

// Is a refusal one that the clerk's books explain?
struct Refusal {
  Clerk& clerk;
  ErrorCode code;

  bool operator()(const PutCollectionCommand& command) const {
    const KnownCollection* const known = clerk.find(command.collection.key);
    if (!command.expected_gen) return false;
    if (known == nullptr) return code == ErrorCode::collection_not_found;
    return code == ErrorCode::changed && *command.expected_gen != known->collection.gen;
  }
  bool operator()(const SetCollectionStateCommand& command) const {
    return code == ErrorCode::collection_not_found && clerk.find(command.key) == nullptr;
  }
  bool operator()(const DeleteCollectionCommand&) const { return false; }
  bool operator()(const PutJobCommand& command) const {
    return code == ErrorCode::parent_missing && clerk.find(command.key.collection) == nullptr;
  }
  bool operator()(const PatchJobCommand& command) const {
    if (missing(command.key)) return true;
    if (code == ErrorCode::changed) return command.expected_gen != clerk.find(command.key)->gen;
    const Job now = stored(command.key);
    return code == ErrorCode::conflict && (is_final(now.state) || changed_later(now, command.key));
  }
  bool operator()(const SetJobStateCommand& command) const {
    if (missing(command.key)) return true;
    const Job now = stored(command.key);
    return code == ErrorCode::conflict && (is_final(now.state) || changed_later(now, command.key));
  }
  bool operator()(const DeleteJobCommand&) const { return false; }
  bool operator()(const KeepCertificatesCommand& command) const {
    return missing(command.key) || code == ErrorCode::changed;
  }
  bool operator()(const RunJobCommand& command) const {
    if (missing(command.key)) return true;
    if (code != ErrorCode::conflict) return false;
    const KnownJob& job = *clerk.find(command.key);
    const Job now = stored(command.key);
    return !job.enabled || !clerk.find(command.key.collection)->runs() || is_final(now.state) ||
           (now.next && (now.next->started || now.next->origin == Origin::extra)) ||
           changed_later(now, command.key);
  }
  bool operator()(const NoteRefusalCommand&) const { return false; }

 private:
  bool missing(const JobKey& key) const {
    if (clerk.find(key.collection) == nullptr) return code == ErrorCode::collection_not_found;
    return clerk.find(key) == nullptr && code == ErrorCode::job_not_found;
  }
  bool changed_later(const Job& now, const JobKey& key) const {
    return now.gen != clerk.find(key)->gen || now.id != clerk.find(key)->id;
  }
  // As it is after the step; gone if a later command of the step deleted it.
  Job stored(const JobKey& key) const {
    const auto job = *clerk.truth_.job(key);
    Job gone;
    gone.gen = -1;
    gone.state = JobState::completed;
    return job ? *job : gone;
  }
};

void Clerk::submit_all(Engine& engine, const std::function<void()>& before_reply) {
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    const bool taken = engine.submit(asked_[i].command, [this, i, before_reply](auto reply) {
      before_reply();
      asked_[i].reply = std::move(reply);
    });
    if (!taken) fault_({}, "the inbox refused a command");
  }
}

bool Clerk::took_effect(const Asked& asked, const StepOutcome& outcome) {
  if (!asked.reply) {
    if (!outcome.faulty) fault_({}, "a command was never answered");
    return outcome.applied && std::visit(Doubt{*this}, asked.command);
  }
  if (asked.reply->has_value()) {
    // Deleting what is not there needs no commit.
    const bool deletes = std::holds_alternative<DeleteJobCommand>(asked.command) ||
                         std::holds_alternative<DeleteCollectionCommand>(asked.command);
    if (!outcome.applied && !deletes && !left_all_as_it_was(**asked.reply)) {
      fault_({}, "a write was answered and not committed");
    }
    return true;
  }
  const ErrorCode code = asked.reply->error().code;
  if (code == ErrorCode::unknown) return outcome.applied;
  // When the store failed, it may have been right to refuse by what was not stored in the end.
  const bool right = outcome.faulty || (code != ErrorCode::unavailable &&
                                        std::visit(Refusal{*this, code}, asked.command));
  if (!right) fault_({}, "a write was refused: " + asked.reply->error().message);
  return false;
}

bool Clerk::left_all_as_it_was(const Reply& reply) {
  const KnownJob* const known = reply.job ? find(reply.job->key) : nullptr;
  return known != nullptr && known->gen == reply.job->gen;
}

// A put of what was there replaced the job if that had ended; then its gen is one more.
void Clerk::resolve_doubts() {
  for (auto& [key, collection] : collections_) {
    for (auto& [name, job] : collection.jobs) {
      const int doubts = std::exchange(job.perhaps_replaced, 0);
      const auto stored = doubts > 0 ? *truth_.job(job.key) : std::nullopt;
      if (stored) job.gen = std::clamp(stored->gen, job.gen, job.gen + doubts);
    }
  }
}

std::vector<Event> Clerk::resolve(const StepOutcome& outcome) {
  std::vector<Event> events;
  std::set<std::string> changed_later;
  std::map<std::string, Job> replies;
  for (Asked& asked : asked_) {
    last_reply_ = asked.reply;
    if (!took_effect(asked, outcome)) continue;
    const bool answered = asked.reply && asked.reply->has_value();
    const Reply* const reply = answered ? &**asked.reply : nullptr;
    // What was left as it was may go on in the same step.
    const bool changed = reply != nullptr && reply->job && !left_all_as_it_was(*reply);
    std::visit(Effect{*this, reply, events, changed_later}, asked.command);
    if (changed) replies[folded(reply->job->key)] = *reply->job;
  }
  asked_.clear();
  resolve_doubts();
  std::erase_if(replies, [&](const auto& entry) { return changed_later.contains(entry.first); });
  check_replies(replies, outcome);
  drop_removed(events);
  return events;
}

// What was answered last of a job is what is stored.
void Clerk::check_replies(const std::map<std::string, Job>& replies, const StepOutcome& outcome) {
  for (const auto& [name, replied] : replies) {
    const KnownJob* const job = find(replied.key);
    if (job == nullptr || job->gen != replied.gen) continue;
    const auto stored = *truth_.job(replied.key);
    if (!stored && outcome.swept) continue;
    if (!stored || described(*stored) != described(replied)) {
      fault_(replied.id, "the store does not hold what was answered");
    }
    audit(*job);
  }
}

std::vector<Event> Clerk::find_swept() {
  std::vector<Event> events;
  for (auto& [key, collection] : collections_) {
    std::erase_if(collection.jobs, [&](const auto& entry) {
      const KnownJob& job = entry.second;
      if (*truth_.job(job.key)) return false;
      events.push_back(event_of(job.id, Removed{.swept = true}));
      return true;
    });
  }
  return events;
}

void Clerk::audit(const KnownJob& job) {
  const auto stored = *truth_.job(job.key);
  if (!stored) return fault_(job.id, "a job that was put is not stored");
  if (stored->id != job.id) fault_(job.id, "another job is stored under its name");
  if (stored->gen != job.gen) {
    fault_(job.id, fmt::format("gen {} is stored and not {}", stored->gen, job.gen));
  }
  if (stored->definition != job.definition) fault_(job.id, "another definition is stored");
  if (!job.enabled && stored->state == JobState::enabled) {
    fault_(job.id, "a job that was disabled is not");
  }
}

void Clerk::audit() {
  for (const auto& [key, collection] : collections_) {
    const auto stored = *truth_.collection(collection.collection.key);
    if (!stored) {
      fault_({}, "a collection that was put is not stored");
      continue;
    }
    if (described(*stored) != described(collection.collection)) {
      fault_({}, "another collection is stored: " + described(*stored));
    }
    for (const auto& [name, job] : collection.jobs) audit(job);
    const auto count = *truth_.count_jobs(collection.collection.key);
    if (count != static_cast<std::int64_t>(collection.jobs.size())) {
      fault_({}, "the collection has more jobs than were put");
    }
  }
}

}  // namespace belfry
