// SPDX-License-Identifier: MIT

#include "app/stopped_store.h"

#include <fmt/format.h>

#include <algorithm>

#include "access/roles.h"
#include "app/virtual_store.h"
#include "engine/apply_command.h"
#include "engine/not_found.h"
#include "store/sqlite_store.h"
#include "store/sqlite_upkeep.h"
#include "wire/resource_path.h"

namespace belfry {
namespace {

AuditedRequest request_to(const JobKey& key, JobSwitch to) {
  return {.kind = PrincipalKind::local,
          .principal =
              fmt::format("belfry job {} --store", to == JobSwitch::enable ? "enable" : "disable"),
          .principal_id = {},
          .address = {},
          .operation = std::string(action_name(Operation::set_job_state)),
          .scope = folded(scope_of(key.collection)),
          .resource = job_id(key)};
}

Result<std::unique_ptr<SqliteStore>> open_stopped(const KeyPlace& place) {
  if (const auto there = expect_database_in(place.directory); !there) return there.error();
  if (const auto fits = check_clock_of(place.directory, /*is_virtual=*/false); !fits) {
    return fits.error();
  }
  return SqliteStore::open({.directory = place.directory, .key_file = place.key_file});
}

Status commit(SqliteStore& store, Draft& draft) {
  TRY_ASSIGN(const auto results, store.commit(draft.take_writes().writes));
  if (std::ranges::find(results, WriteResult::refused) == results.end()) return Done{};
  return Error{ErrorCode::internal, "the store refused what was to be written.", {}};
}

}  // namespace

Result<std::string> switch_job(const KeyPlace& place, const JobKey& key, JobSwitch to,
                               Instant now) {
  TRY_ASSIGN(const auto store, open_stopped(place));
  TRY_ASSIGN(const auto job, store->job(key));
  if (!job) return job_not_found(key);
  const bool enable = to == JobSwitch::enable;
  const char* state = enable ? "enabled" : "disabled";
  if (job->state == (enable ? JobState::enabled : JobState::disabled)) {
    return fmt::format("{} was {} already.", job->key->name, state);
  }
  Draft draft(*store);
  Trail trail;
  const Command command = SetJobStateCommand{*job->key, enable};
  const Plans plans = Plans::open();  // a job's state is no matter of them
  const auto applied = apply_command(command, {draft, plans, now, [] { return JobId{}; }, &trail});
  if (!applied) return applied.error();
  draft.add_audit(key_of(command), {request_to(*job->key, to), now, AuditResult::updated,
                                    trail.before, trail.after});
  if (const auto committed = commit(*store, draft); !committed) return committed.error();
  return fmt::format("{} is {} in {}.", job->key->name, state, place.directory.native());
}

}  // namespace belfry
