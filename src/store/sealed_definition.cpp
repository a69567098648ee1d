// SPDX-License-Identifier: MIT

#include "store/sealed_definition.h"

#include "model/destination.h"
#include "wire/definition_json.h"

namespace belfry {
namespace {

// None where the action has no secrets.
Result<std::optional<std::string>> seal_secrets(const Sealer& sealer, JobId job, ActionRole role,
                                                const Action& action) {
  const std::string text = secrets_text(action);
  if (text.empty()) return std::optional<std::string>();
  TRY_ASSIGN(std::string sealed, sealer.seal({job, role, destination_of(action)}, text));
  return std::optional(std::move(sealed));
}

Status open_secrets(const Sealer& sealer, JobId job, ActionRole role, Action& action,
                    const std::optional<std::string_view>& sealed) {
  if (!sealed) return Done{};
  TRY_ASSIGN(const std::string text, sealer.open({job, role, destination_of(action)}, *sealed));
  return add_secrets(action, text);
}

Status open_all_secrets(const Sealer& sealer, JobId job, const StoredDefinition& stored,
                        JobDefinition& definition) {
  if (stored.main_secrets && Sealer::is_of_both_roles(*stored.main_secrets)) {
    TRY_ASSIGN(const std::string text, sealer.open_of_both_roles(job, *stored.main_secrets));
    return add_secrets_of_both(definition, text);
  }
  const auto main =
      open_secrets(sealer, job, ActionRole::main, definition.action, stored.main_secrets);
  if (!main || !definition.error_action) return main;
  return open_secrets(sealer, job, ActionRole::error, *definition.error_action,
                      stored.error_secrets);
}

}  // namespace

Result<SealedDefinition> seal_definition(const Sealer& sealer, const Job& job) {
  const JobDefinition& definition = *job.definition;
  SealedDefinition out;
  out.document = definition_text(definition);
  TRY_ASSIGN(out.main_secrets, seal_secrets(sealer, job.id, ActionRole::main, definition.action));
  if (definition.error_action) {
    TRY_ASSIGN(out.error_secrets,
               seal_secrets(sealer, job.id, ActionRole::error, *definition.error_action));
  }
  out.mac = sealer.mac(
      mac_text(job.id, job.key, {out.document, out.main_secrets, out.error_secrets, {}}));
  return out;
}

Result<JobDefinition> open_definition(const Sealer& sealer, JobId job, const JobKey& key,
                                      const StoredDefinition& stored) {
  // What this version sealed has its MAC, whatever else is still without.
  const bool ours = stored.error_secrets ||
                    (stored.main_secrets && !Sealer::is_of_both_roles(*stored.main_secrets));
  if (ours && !stored.mac) {
    return Error{ErrorCode::internal, "its MAC is missing. Somebody else has changed the store",
                 ""};
  }
  const auto genuine = check_mac(sealer, mac_text(job, key, stored), stored.mac, "it");
  if (!genuine) return genuine.error();
  TRY_ASSIGN(JobDefinition definition, parse_definition(stored.document));
  const auto opened = open_all_secrets(sealer, job, stored, definition);
  if (!opened) return opened.error();
  return definition;
}

}  // namespace belfry
