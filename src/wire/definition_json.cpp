// SPDX-License-Identifier: MIT

#include "wire/definition_json.h"

#include <fmt/format.h>

#include <limits>

#include "wire/iso8601.h"
#include "wire/timing_json.h"

namespace belfry {
namespace {

namespace json = boost::json;

// Calls `each` with a name that never changes and the secret that goes by it.
template <typename HttpLike, typename Each>
void visit_http_secrets(HttpLike& action, const std::string& prefix, Each each) {
  if (!action.authentication) return;
  if (auto* basic = std::get_if<BasicAuthentication>(&*action.authentication)) {
    each(prefix + "password", basic->password);
  } else if (auto* certificate = std::get_if<ClientCertificate>(&*action.authentication)) {
    each(prefix + "pfx", certificate->pfx);
    each(prefix + "password", certificate->password);
  } else if (auto* oauth = std::get_if<ActiveDirectoryOAuth>(&*action.authentication)) {
    each(prefix + "secret", oauth->secret);
  }
}

template <typename ActionLike, typename Each>
void visit_action_secrets(ActionLike& action, const std::string& prefix, Each each) {
  if (auto* http = std::get_if<HttpAction>(&action.what)) {
    visit_http_secrets(*http, prefix, each);
  } else if (auto* queue = std::get_if<StorageQueueAction>(&action.what)) {
    each(prefix + "sasToken", queue->sas_token);
  } else if (auto* bus_queue = std::get_if<ServiceBusQueueAction>(&action.what)) {
    each(prefix + "sasKey", bus_queue->message.sas_key);
  } else if (auto* topic = std::get_if<ServiceBusTopicAction>(&action.what)) {
    each(prefix + "sasKey", topic->message.sas_key);
  }
}

template <typename DefinitionLike, typename Each>
void visit_secrets(DefinitionLike& definition, Each each) {
  visit_action_secrets(definition.action, "action.", each);
  if (definition.error_action) {
    visit_action_secrets(*definition.error_action, "errorAction.", each);
  }
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
  return definition;
}

std::string measured_text(const JobDefinition& definition, Reading& reading) {
  std::string text = definition_text(definition);
  const std::size_t bytes = text.size() + secrets_text(definition).size();
  const std::size_t bytes_max = job_bytes_max(reading.body_bytes_max);
  if (bytes > bytes_max) {
    reading.fail(
        "", fmt::format("The job is {} bytes large; at most {} are allowed.", bytes, bytes_max));
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
}

std::string definition_text(const JobDefinition& definition, Secrets secrets) {
  JsonWriter out;
  out.object([&] { write_definition(out, definition, {.secrets = secrets}); });
  return out.take();
}

std::string secrets_text(const JobDefinition& definition) {
  JsonWriter out;
  visit_secrets(definition, [&](const std::string& name, const Secret& secret) {
    if (secret.empty()) return;
    if (out.text().empty()) out.begin_object();
    out.member(name, secret.reveal());
  });
  if (!out.text().empty()) out.end_object();
  return out.take();
}

Result<JobDefinition> parse_definition(std::string_view definition, std::string_view secrets) {
  JsonMemory memory;
  TRY_ASSIGN(const json::value value, parse_json(definition, JsonDialect::own, memory.get()));
  const auto* object = value.if_object();
  if (object == nullptr) return Error{ErrorCode::internal, "A stored job is not an object.", {}};
  // What was accepted once is not judged again: the secrets are still missing here, and the
  // rules may have become stricter since.
  Reading reading{.body_bytes_max = std::numeric_limits<std::size_t>::max()};
  JobDefinition out;
  {
    ObjectReader properties(*object, "", reading);
    out = read_definition(properties, reading);
  }
  if (secrets.empty()) return out;
  JsonMemory secrets_memory;
  TRY_ASSIGN(const json::value sealed, parse_json(secrets, JsonDialect::own, secrets_memory.get()));
  const auto* names = sealed.if_object();
  if (names == nullptr) return Error{ErrorCode::internal, "Stored secrets are not an object.", {}};
  visit_secrets(out, [&](const std::string& name, Secret& secret) {
    if (const auto* text = names->if_contains(name); text != nullptr && text->is_string()) {
      secret = Secret(std::string(text->get_string()));
    }
  });
  return out;
}

}  // namespace belfry
