// SPDX-License-Identifier: MIT

#include "wire/definition_json.h"

#include <fmt/format.h>

#include <limits>

#include "model/action_secrets.h"
#include "model/destination.h"
#include "wire/iso8601.h"
#include "wire/timing_json.h"

namespace belfry {
namespace {

namespace json = boost::json;

// Version 0.1 called a secret by its role and the last part of its name.
template <typename Each>
void visit_secrets_of_both(JobDefinition& definition, Each each) {
  const auto renamed = [&each](const std::string& role) {
    return [&each, role](const std::string& name, Secret& secret) {
      each(role + name.substr(name.rfind('.')), secret);
    };
  };
  visit_secrets(definition.action, renamed("action"));
  if (definition.error_action) visit_secrets(*definition.error_action, renamed("errorAction"));
}

// Calls `use` with what finds a secret's text by its name.
template <typename Use>
Status read_secrets(std::string_view secrets, Use use) {
  if (secrets.empty()) return Done{};
  JsonMemory memory;
  TRY_ASSIGN(const json::value sealed, parse_json(secrets, JsonDialect::own, memory.get()));
  const auto* names = sealed.if_object();
  if (names == nullptr) return Error{ErrorCode::internal, "Stored secrets are not an object.", {}};
  use([names](const std::string& name, Secret& secret) {
    const auto* text = names->if_contains(name);
    if (text != nullptr && text->is_string()) secret = Secret(std::string(text->get_string()));
  });
  return Done{};
}

// The secret of that name, if the action has one; that of a header by any spelling.
const Secret* find_secret(const Action& action, const std::string& name) {
  const Secret* found = nullptr;
  visit_secrets(action, [&](const std::string& other, const Secret& secret) {
    const bool same = other == name || (found == nullptr && equal_ignoring_case(other, name));
    if (same && !secret.empty()) found = &secret;
  });
  return found;
}

void keep_secrets_of(Action& action, const Action* stored, const std::string& path,
                     Reading& reading) {
  visit_secrets(action, [&](const std::string& name, Secret& secret) {
    if (secret.reveal() != kSealed) return;
    const Secret* kept = stored == nullptr ? nullptr : find_secret(*stored, name);
    if (kept == nullptr) {
      reading.fail(path + '.' + name,
                   fmt::format("is sent as '{}', but nothing is stored that this could stand for: "
                               "send the secret itself.",
                               kSealed));
    } else if (const auto before = destination_of(*stored); before != destination_of(action)) {
      reading.fail(path + '.' + name,
                   fmt::format("must be sent again, for the action goes elsewhere now: what is "
                               "stored was given for {}.",
                               before));
    } else {
      secret = *kept;
    }
  });
}

bool keeps_any(const Action& action) {
  bool any = false;
  visit_secrets(action, [&](const std::string&, const Secret& secret) {
    any = any || secret.reveal() == kSealed;
  });
  return any;
}

void read_actions(ObjectReader& properties, JobDefinition& definition, Reading& reading) {
  auto action = properties.object("action");
  if (!action) {
    if (properties.find("action") == nullptr) {
      properties.fail("action", "is missing: it says what the job does.");
    }
    properties.skip("errorAction");
    properties.skip("retryPolicy");
    return;
  }
  if (auto main = read_action(*action, reading)) definition.action = std::move(*main);
  // The founding documents' tables list both beside the action.
  read_elsewhere(definition.action.retry_policy, properties, "retryPolicy", read_retry_policy);
  auto error_action = action->object("errorAction");
  read_elsewhere(error_action, properties, "errorAction",
                 [](ObjectReader& holder) { return holder.object("errorAction"); });
  if (!error_action) return;
  definition.error_action = read_action(*error_action, reading);
  error_action->skip_null("errorAction");  // it has none of its own
}

}  // namespace

JobDefinition read_definition(ObjectReader& properties, Reading& reading) {
  JobDefinition definition;
  definition.timing = read_timing(properties, reading);
  read_actions(properties, definition, reading);
  definition.metrics = properties.boolean("metrics");
  return definition;
}

std::string measured_text(const JobDefinition& definition, Reading& reading) {
  std::string text = definition_text(definition);
  std::size_t bytes = text.size() + secrets_text(definition.action).size();
  if (definition.error_action) bytes += secrets_text(*definition.error_action).size();
  const std::size_t bytes_max = job_bytes_max(reading.body_bytes_max);
  if (bytes > bytes_max) {
    reading.fail("", fmt::format("The job is {} bytes large; at most {} are allowed.{}", bytes,
                                 bytes_max, kBodyMaxDecides));
  }
  return text;
}

void write_definition(JsonWriter& out, const JobDefinition& definition,
                      const WriteOptions& options) {
  const Timing& timing = definition.timing;
  if (timing.start_time) out.member("startTime", *timing.start_time);
  out.object("action", [&] {
    write_action(out, definition.action, options);
    if (!definition.error_action) return;
    out.object("errorAction", [&] { write_action(out, *definition.error_action, options); });
  });
  if (timing.recurrence) {
    out.name("recurrence");
    write_recurrence(out, *timing.recurrence);
  }
  if (definition.metrics.value_or(false)) out.member("metrics", true);
}

std::string definition_text(const JobDefinition& definition, Secrets secrets) {
  JsonWriter out;
  out.object([&] { write_definition(out, definition, {.secrets = secrets}); });
  return out.take();
}

std::string secrets_text(const Action& action) {
  JsonWriter out;
  visit_secrets(action, [&](const std::string& name, const Secret& secret) {
    if (secret.empty()) return;
    if (out.text().empty()) out.begin_object();
    out.member(name, secret.reveal());
  });
  if (!out.text().empty()) out.end_object();
  return out.take();
}

Result<JobDefinition> parse_definition(std::string_view definition) {
  JsonMemory memory;
  TRY_ASSIGN(const json::value value, parse_json(definition, JsonDialect::own, memory.get()));
  const auto* object = value.if_object();
  if (object == nullptr) return Error{ErrorCode::internal, "A stored job is not an object.", {}};
  // The faults are not looked at: the secrets are still missing here, and the rules may have
  // become stricter since.
  Reading reading{.body_bytes_max = std::numeric_limits<std::size_t>::max()};
  ObjectReader properties(*object, "", reading);
  return read_definition(properties, reading);
}

Status add_secrets(Action& action, std::string_view secrets) {
  return read_secrets(secrets, [&](const auto& fill) { visit_secrets(action, fill); });
}

Status add_secrets_of_both(JobDefinition& definition, std::string_view secrets) {
  return read_secrets(secrets, [&](const auto& fill) { visit_secrets_of_both(definition, fill); });
}

void keep_secrets(JobDefinition& definition, const PreviousDefinition& stored,
                  const std::string& path, Reading& reading) {
  auto& error_action = definition.error_action;
  if (!keeps_any(definition.action) && !(error_action && keeps_any(*error_action))) return;
  const JobDefinition* before = stored ? stored() : nullptr;
  keep_secrets_of(definition.action, before ? &before->action : nullptr, path, reading);
  if (!error_action) return;
  const bool had_one = before != nullptr && before->error_action;
  keep_secrets_of(*error_action, had_one ? &*before->error_action : nullptr, path + ".errorAction",
                  reading);
}

}  // namespace belfry
