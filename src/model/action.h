// SPDX-License-Identifier: MIT
//
// Action is what a job does: call an HTTP endpoint, or put a message on a storage queue, a
// Service Bus queue or a Service Bus topic. An error action is an Action in another role.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/instant.h"
#include "model/secret.h"

namespace belfry {

enum class RetryType { none, fixed };

struct RetryPolicy {
  RetryType type = RetryType::fixed;
  std::optional<Ticks> interval;  // absent: the default of the collection's plan
  std::optional<int> count;       // absent: kRetryCountDefault

  bool operator==(const RetryPolicy&) const = default;
};

inline constexpr int kRetryCountDefault = 4;
inline constexpr int kRetryCountMax = 20;
inline constexpr Ticks kRetryIntervalDefault = std::chrono::seconds{30};
inline constexpr Ticks kRetryIntervalMin = std::chrono::seconds{15};
inline constexpr Ticks kRetryIntervalMax = std::chrono::days{548};  // eighteen months
inline constexpr Ticks kRetryIntervalFree = std::chrono::hours{1};  // default and minimum there

inline constexpr Ticks kActionTimeoutMin = std::chrono::seconds{1};
inline constexpr Ticks kActionTimeoutMax = std::chrono::minutes{30};

struct BasicAuthentication {
  std::string username;
  Secret password;

  bool operator==(const BasicAuthentication&) const = default;
};

// What the certificate says of itself is read when it comes in, and shown ever after.
struct ClientCertificate {
  Secret pfx;              // a file in base64 as it comes in; then what is kept of it (net/pfx.h)
  Secret password;         // of the file; nothing is kept of it
  std::string thumbprint;  // SHA-1, forty upper-case digits
  std::optional<Instant> expiration;
  std::string subject_name;

  bool operator==(const ClientCertificate&) const = default;
};

struct ActiveDirectoryOAuth {
  std::string tenant;
  std::string audience;
  std::string client_id;
  Secret secret;

  bool operator==(const ActiveDirectoryOAuth&) const = default;
};

using Authentication = std::variant<BasicAuthentication, ClientCertificate, ActiveDirectoryOAuth>;

struct HttpAction {
  using Headers = std::vector<std::pair<std::string, std::string>>;
  using SecretHeaders = std::vector<std::pair<std::string, Secret>>;

  bool declared_https = false;  // the type as the user wrote it; the URI's scheme decides
  std::string uri;
  std::string method;
  Headers headers;
  SecretHeaders secret_headers;             // by their names, or because the job says so
  std::vector<std::string> named_secret{};  // the headers that it says so of (secretHeaders)
  std::optional<std::string> body;
  std::optional<Authentication> authentication;

  bool operator==(const HttpAction&) const = default;
};

struct StorageQueueAction {
  std::string storage_account;
  std::string queue_name;
  Secret sas_token;
  std::string message;

  bool operator==(const StorageQueueAction&) const = default;
};

enum class Transport { not_specified, net_messaging, amqp };

// What Service Bus itself understands of a message.
struct BrokeredProperties {
  std::optional<std::string> content_type, correlation_id, label, message_id, partition_key;
  std::optional<std::string> reply_to, reply_to_session_id, session_id, to, via_partition_key;
  std::optional<bool> force_persistence;
  std::optional<Instant> scheduled_enqueue_time;
  std::optional<Ticks> time_to_live;

  bool operator==(const BrokeredProperties&) const = default;
};

using CustomProperty = std::variant<std::string, bool, std::int64_t, double>;

struct ServiceBusMessage {
  using Custom = std::vector<std::pair<std::string, CustomProperty>>;

  std::string service_namespace;
  Transport transport = Transport::net_messaging;
  std::string sas_key_name;
  Secret sas_key;  // empty: the server's configuration may name one
  std::string text;
  BrokeredProperties brokered;
  Custom custom;

  bool operator==(const ServiceBusMessage&) const = default;
};

struct ServiceBusQueueAction {
  std::string queue_name;
  ServiceBusMessage message;

  bool operator==(const ServiceBusQueueAction&) const = default;
};

struct ServiceBusTopicAction {
  std::string topic_path;
  ServiceBusMessage message;

  bool operator==(const ServiceBusTopicAction&) const = default;
};

struct Action {
  std::variant<HttpAction, StorageQueueAction, ServiceBusQueueAction, ServiceBusTopicAction> what;
  std::optional<RetryPolicy> retry_policy;
  std::optional<Ticks> timeout;  // of one attempt; absent: the server's setting

  bool operator==(const Action&) const = default;
};

}  // namespace belfry
