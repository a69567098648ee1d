// SPDX-License-Identifier: MIT
//
// Actions and retry policies as Azure spells them. Used by definition_json alone.

#pragma once

#include <optional>
#include <string_view>

#include "model/action.h"
#include "wire/json.h"
#include "wire/json_writer.h"

namespace belfry {

inline constexpr std::size_t kHeadersMax = 50;
inline constexpr std::size_t kHeadersBytesMax = 4096;
inline constexpr std::size_t kBodyBytesMax = 8192;  // unless the operator allows more
inline constexpr std::size_t kMessageBytesMax = 16 * 1024;
inline constexpr std::size_t kCustomPropertiesMax = 50;
inline constexpr std::size_t kSecretBytesMax = 16 * 1024;
inline constexpr std::size_t kDurationBytesMax = 64;

// What stands for a secret that is stored, in an answer for that of a header, and what a client
// sends for one that is to stay as it is.
inline constexpr std::string_view kSealed = "(sealed)";

// Whether it is said that there is a secret: of headers it always is.
enum class Secrets { omit, name };

// What is written for a secret of a required member.
inline std::string_view sealed_name(const Secret& secret) {
  return secret.empty() ? std::string_view() : kSealed;
}

// The live service wrote hh:mm:ss; some clients read nothing but ISO 8601.
enum class DurationForm { time_span, iso8601 };

struct WriteOptions {
  Secrets secrets = Secrets::omit;
  DurationForm durations = DurationForm::time_span;
};

// `action` is the reader of the action object itself. A retryPolicy or timeout inside `request`
// is read where there is none in `action`.
std::optional<Action> read_action(ObjectReader& action, Reading& reading);

// The retryPolicy of whatever object it stands in.
std::optional<RetryPolicy> read_retry_policy(ObjectReader& holder);

// The member `name` of `holder`, which is not its own place: read where nothing was found there,
// else passed over, and named as ignored.
template <typename Value, typename Read>
void read_elsewhere(std::optional<Value>& found, ObjectReader& holder, std::string_view name,
                    Read read) {
  if (found) return holder.skip_null(name);
  if (auto value = read(holder)) found.emplace(*std::move(value));
}

// The members of an action, for the object that is open: payload, type, retryPolicy and timeout;
// everything but errorAction.
void write_action(JsonWriter& out, const Action& action, const WriteOptions& options);

std::string spelt(Ticks duration, DurationForm form);

}  // namespace belfry
