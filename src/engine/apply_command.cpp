// SPDX-License-Identifier: MIT

#include "engine/apply_command.h"

#include <fmt/format.h>

#include "engine/admission.h"
#include "engine/job_changes.h"
#include "engine/not_found.h"
#include "store/fingerprint.h"

namespace belfry {
namespace {

Error changed(std::string_view what, const std::string& name) {
  return {ErrorCode::changed,
          fmt::format("{} '{}' was changed by another request meanwhile. Try again.", what, name),
          {}};
}

CollectionRuns runs(const JobCollection& collection) {
  return collection.state == CollectionState::enabled ? CollectionRuns::yes : CollectionRuns::no;
}

Result<JobCollection> existing_collection(const CollectionKey& key, Draft& draft) {
  TRY_ASSIGN(auto collection, draft.collection(key));
  if (!collection) return collection_not_found(key);
  return *collection;
}

Result<Job> existing_job(const JobKey& key, Draft& draft) {
  TRY_ASSIGN(auto collection, draft.collection(key.collection));
  if (!collection) return collection_not_found(key.collection);
  TRY_ASSIGN(auto job, draft.job(key));
  if (!job) return job_not_found(key);
  return *job;
}

bool is_stricter(const Quota& wanted, const Quota& existing) {
  return wanted.max_job_count < existing.max_job_count ||
         shortest_length(wanted.max_recurrence) > shortest_length(existing.max_recurrence);
}

// Clients of Azure's drop the members that they do not know.
Shared<JobDefinition> with_kept_members(const Shared<JobDefinition>& wanted,
                                        const std::optional<Job>& existing) {
  if (wanted->metrics || !existing || !existing->definition->metrics) return wanted;
  Shared<JobDefinition> kept = wanted;
  kept.edit().metrics = existing->definition->metrics;
  return kept;
}

struct CommandApplier {
  const Applying& with;

  Result<Reply> operator()(const PutCollectionCommand& command) const {
    TRY_ASSIGN(const auto existing, with.draft.collection(command.collection.key));
    JobCollection collection = command.collection;
    if (!existing) {
      if (command.expected_gen) return collection_not_found(collection.key);
      if (auto room = room_for_one_more(collection); !room) return room.error();
      collection.gen = 1;
      with.draft.put(collection);
      trace_created(collection);
      return Reply{collection, {}, true};
    }
    if (command.expected_gen && *command.expected_gen != existing->gen) {
      return changed("Job collection", collection.key.name);
    }
    if (auto allowed = may_become(*existing, collection); !allowed) return allowed.error();
    collection.key = existing->key;  // the first spelling stays
    collection.gen = existing->gen + 1;
    if (auto done = follow(*existing, collection); !done) return done.error();
    with.draft.put(collection);
    trace(AuditResult::updated, *existing, collection);
    return Reply{collection, {}, false};
  }

  Result<Reply> operator()(const DeleteCollectionCommand& command) const {
    TRY_ASSIGN(const auto existing, with.draft.collection(command.key));
    // Azure's clients take a 200 for "it is gone", whoever removed it.
    if (!existing) return Reply{};
    with.draft.remove(*existing);
    trace_deleted(*existing);
    return Reply{};
  }

  Result<Reply> operator()(const SetCollectionStateCommand& command) const {
    TRY_ASSIGN(const JobCollection existing, existing_collection(command.key, with.draft));
    JobCollection collection = existing;
    collection.state = command.state;
    collection.gen = existing.gen + 1;
    if (auto done = follow(existing, collection); !done) return done.error();
    with.draft.put(collection);
    trace(AuditResult::updated, existing, collection);
    return Reply{collection, {}, false};
  }

  Result<Reply> operator()(const PutJobCommand& command) const {
    TRY_ASSIGN(const auto collection, with.draft.collection(command.key.collection));
    if (!collection) return parent_missing(command.key.collection);
    TRY_ASSIGN(const auto existing, with.draft.job(command.key));
    if (command.expected_gen && (!existing || existing->gen != *command.expected_gen)) {
      return changed("Job", command.key.name);
    }
    const Shared<JobDefinition> definition = with_kept_members(command.definition, existing);
    if (existing && !is_final(existing->state) && has_definition(*existing, definition)) {
      return set_state(*existing, command.enabled, *collection);
    }
    TRY_ASSIGN(const JobWish wish, admitted(definition, command.enabled, *collection));
    if (existing) {
      JobChange change = replaced(*existing, wish, with.now);
      with.draft.put(change.job, std::move(change.rows));
      trace_put(command, existing, change.job);
      return Reply{{}, std::move(change.job), false};
    }
    TRY_ASSIGN(const std::int64_t count, with.draft.count_jobs(collection->key));
    if (count >= collection->quota.max_job_count) {
      return full(*collection, with.plans.of(collection->sku));
    }
    Job job = created(with.mint_id(), {collection->key, command.key.name}, wish, with.now);
    with.draft.put(job, {});
    trace_put(command, existing, job);
    return Reply{{}, std::move(job), true};
  }

  Result<Reply> operator()(const PatchJobCommand& command) const {
    TRY_ASSIGN(const Job existing, existing_job(command.key, with.draft));
    if (existing.gen != command.expected_gen) return changed("Job", existing.key->name);
    TRY_ASSIGN(const JobCollection collection,
               existing_collection(command.key.collection, with.draft));
    TRY_ASSIGN(const JobWish wish, admitted(command.definition, command.enabled, collection));
    TRY_ASSIGN(JobChange change, patched(existing, wish, with.now));
    with.draft.put(change.job, std::move(change.rows));
    trace(AuditResult::updated, existing, change.job);
    return Reply{{}, std::move(change.job), false};
  }

  Result<Reply> operator()(const SetJobStateCommand& command) const {
    TRY_ASSIGN(const Job existing, existing_job(command.key, with.draft));
    TRY_ASSIGN(const JobCollection collection,
               existing_collection(command.key.collection, with.draft));
    return set_state(existing, command.enabled, collection);
  }

  Result<Reply> operator()(const DeleteJobCommand& command) const {
    TRY_ASSIGN(const auto collection, with.draft.collection(command.key.collection));
    if (!collection) return Reply{};
    TRY_ASSIGN(const auto existing, with.draft.job(command.key));
    if (!existing) return Reply{};
    with.draft.remove(*existing);
    trace_deleted(*existing);
    return Reply{};
  }

  Result<Reply> operator()(const RunJobCommand& command) const {
    TRY_ASSIGN(const Job existing, existing_job(command.key, with.draft));
    TRY_ASSIGN(const JobCollection collection,
               existing_collection(command.key.collection, with.draft));
    TRY_ASSIGN(Job job, run_now(existing, runs(collection), with.now));
    with.draft.put(job, {});
    trace(AuditResult::started, existing, job);
    return Reply{{}, std::move(job), false};
  }

  Result<Reply> operator()(const KeepCertificatesCommand& command) const {
    TRY_ASSIGN(Job job, existing_job(command.key, with.draft));
    if (job.gen != command.expected_gen) return changed("Job", job.key->name);
    job.definition = command.definition;
    ++job.gen;
    with.draft.put(job, {});
    return Reply{{}, std::move(job), false};
  }

  Result<Reply> operator()(const NoteRefusalCommand&) const {
    if (with.trail != nullptr) *with.trail = {AuditResult::refused, "", ""};
    return Reply{};
  }

 private:
  template <typename Thing>
  void trace(AuditResult result, const Thing& before, const Thing& after) const {
    if (with.trail != nullptr) *with.trail = {result, fingerprint(before), fingerprint(after)};
  }

  void trace_put(const PutJobCommand& command, const std::optional<Job>& before,
                 const Job& after) const {
    if (with.trail == nullptr) return;
    const bool as_asked = after.definition->metrics == command.definition->metrics;
    *with.trail = {
        before ? AuditResult::updated : AuditResult::created, before ? fingerprint(*before) : "",
        as_asked && !command.fingerprint.empty() ? command.fingerprint : fingerprint(after)};
  }

  template <typename Thing>
  void trace_created(const Thing& after) const {
    if (with.trail != nullptr) *with.trail = {AuditResult::created, "", fingerprint(after)};
  }

  template <typename Thing>
  void trace_deleted(const Thing& before) const {
    if (with.trail != nullptr) *with.trail = {AuditResult::deleted, fingerprint(before), ""};
  }

  // A job that is in that state already stays as it is, and nothing tells of it.
  Result<Reply> set_state(const Job& job, bool enabled, const JobCollection& collection) const {
    const auto wanted = enabled ? JobState::enabled : JobState::disabled;
    if (job.state == wanted) return Reply{{}, job, false};
    const JobWish wish{job.definition, enabled, job.retry_interval_default, runs(collection)};
    TRY_ASSIGN(JobChange change, patched(job, wish, with.now));
    with.draft.put(change.job, std::move(change.rows));
    trace(AuditResult::updated, job, change.job);
    return Reply{{}, std::move(change.job), false};
  }

  Result<JobWish> admitted(const Shared<JobDefinition>& definition, bool enabled,
                           const JobCollection& collection) const {
    const Plan& plan = with.plans.of(collection.sku);
    if (auto allowed = admit(definition, collection, plan); !allowed) return allowed.error();
    return JobWish{definition, enabled, plan.retry_interval_default, runs(collection)};
  }

  Result<SkuCounts> counts_beside(const JobCollection& collection) const {
    return with.draft.count_collections(collection.key.subscription, collection.sku);
  }

  Status room_for_one_more(const JobCollection& collection) const {
    TRY_ASSIGN(const SkuCounts counts, counts_beside(collection));
    if (counts.all >= with.plans.collections_max) {
      return Error{ErrorCode::conflict,
                   fmt::format("The subscription has reached its limit of {} job collections.",
                               with.plans.collections_max),
                   {}};
    }
    return room_in_plan(collection.sku, counts);
  }

  Status room_in_plan(Sku sku, const SkuCounts& counts) const {
    const Plan& plan = with.plans.of(sku);
    if (counts.of_sku < plan.collections_max) return Done{};
    if (sku == Sku::free) {
      return Error{ErrorCode::conflict,
                   "The subscription already has a free job collection. It can have more of the "
                   "plan Standard.",
                   {}};
    }
    return Error{ErrorCode::conflict,
                 fmt::format("The subscription has reached its limit of {} job collections of this "
                             "plan.{}",
                             plan.collections_max, more_than(plan)),
                 {}};
  }

  // May the collection be changed so, with the jobs that it has?
  Status may_become(const JobCollection& existing, const JobCollection& wanted) const {
    if (folded(existing.location) != folded(wanted.location)) {
      return Error{ErrorCode::conflict,
                   fmt::format("The job collection '{}' is in location '{}'; a collection cannot "
                               "move to '{}'.",
                               existing.key.name, existing.location, wanted.location),
                   "location"};
    }
    if (existing.sku != wanted.sku) {
      TRY_ASSIGN(const SkuCounts counts, counts_beside(wanted));
      if (auto room = room_in_plan(wanted.sku, counts); !room) return room;
    }
    const bool same_sku = existing.sku == wanted.sku;
    if (same_sku && !is_stricter(wanted.quota, existing.quota)) return Done{};
    TRY_ASSIGN(const std::int64_t count, with.draft.count_jobs(existing.key));
    if (count > wanted.quota.max_job_count) {
      return Error{ErrorCode::conflict,
                   fmt::format("The job collection has {} jobs, more than the maxJobCount of {}.",
                               count, wanted.quota.max_job_count),
                   "properties.quota.maxJobCount"};
    }
    TRY_ASSIGN(const std::vector<Job> jobs, with.draft.jobs_of(existing.key));
    for (const Job& job : jobs) {
      const Plan& plan = with.plans.of(wanted.sku);
      if (auto allowed = admit(job.definition, wanted, plan); !allowed) {
        return Error{
            ErrorCode::conflict,
            fmt::format("Job '{}' does not allow it: {}", job.key->name, allowed.error().message),
            {}};
      }
    }
    return Done{};
  }

  // The jobs follow their collection: they stop or go on with it, and retry by its plan. All
  // of them or, when they cannot be read, none: so this comes before anything is written.
  Status follow(const JobCollection& before, const JobCollection& after) const {
    const bool state_changes = runs(before) != runs(after);
    if (!state_changes && before.sku == after.sku) return Done{};
    TRY_ASSIGN(std::vector<Job> jobs, with.draft.jobs_of(after.key));
    for (Job& job : jobs) {
      JobChange change{job, {}};
      if (state_changes && runs(after) == CollectionRuns::no) {
        change = suspended(job, with.now);
      } else if (state_changes) {
        change.job = resumed(job, with.now);
      }
      change.job.gen = job.gen + 1;
      change.job.retry_interval_default = with.plans.of(after.sku).retry_interval_default;
      with.draft.put(std::move(change.job), std::move(change.rows));
    }
    return Done{};
  }
};

}  // namespace

Result<Reply> apply_command(const Command& command, const Applying& with) {
  return std::visit(CommandApplier{with}, command);
}

const JobKey* job_changed_by(const Command& command) {
  if (const auto* put = std::get_if<PutJobCommand>(&command)) return &put->key;
  if (const auto* patch = std::get_if<PatchJobCommand>(&command)) return &patch->key;
  if (const auto* state = std::get_if<SetJobStateCommand>(&command)) return &state->key;
  if (const auto* removal = std::get_if<DeleteJobCommand>(&command)) return &removal->key;
  if (const auto* kept = std::get_if<KeepCertificatesCommand>(&command)) return &kept->key;
  return nullptr;
}

const CollectionKey* collection_changed_by(const Command& command) {
  if (const auto* put = std::get_if<PutCollectionCommand>(&command)) return &put->collection.key;
  if (const auto* state = std::get_if<SetCollectionStateCommand>(&command)) return &state->key;
  if (const auto* removal = std::get_if<DeleteCollectionCommand>(&command)) return &removal->key;
  return nullptr;
}

std::string key_of(const Command& command) {
  struct Key {
    std::string operator()(const PutCollectionCommand& c) const { return folded(c.collection.key); }
    std::string operator()(const DeleteCollectionCommand& c) const { return folded(c.key); }
    std::string operator()(const SetCollectionStateCommand& c) const { return folded(c.key); }
    std::string operator()(const PutJobCommand& c) const { return folded(c.key); }
    std::string operator()(const PatchJobCommand& c) const { return folded(c.key); }
    std::string operator()(const SetJobStateCommand& c) const { return folded(c.key); }
    std::string operator()(const DeleteJobCommand& c) const { return folded(c.key); }
    std::string operator()(const RunJobCommand& c) const { return folded(c.key); }
    std::string operator()(const KeepCertificatesCommand& c) const { return folded(c.key); }
    std::string operator()(const NoteRefusalCommand&) const { return "/belfry"; }  // of no write
  };
  return std::visit(Key{}, command);
}

}  // namespace belfry
