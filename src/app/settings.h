// SPDX-License-Identifier: MIT
//
// The settings of `belfry serve`: flags win over the environment, the environment over the
// configuration file, the file over the defaults. `belfry config` prints what is in force and
// where it came from.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/rate_limits.h"
#include "app/bearer_tokens.h"
#include "base/instant.h"
#include "base/log.h"
#include "base/result.h"
#include "dispatch/oauth_tokens.h"
#include "dispatch/service_bus_options.h"
#include "dispatch/storage_queue_request.h"
#include "engine/settle.h"
#include "model/plan.h"
#include "model/secret.h"
#include "net/egress_guard.h"
#include "net/http_proxy.h"
#include "net/tls_server.h"
#include "wire/job_json.h"

namespace belfry {

// A setting as people know it: --name, BELFRY_NAME, name = in the file.
struct SettingRule {
  std::string_view name;
  std::string_view fallback;
  std::string_view value_name;  // empty: as a flag it needs no value, which is "yes"
  std::string_view help;
};
const std::vector<SettingRule>& setting_rules();

struct Setting {
  std::string name;
  std::string value;
  std::string source;  // "flag", "environment", the file's path, "default"

  // The value as people may see it: without a secret that it is, or has in it.
  std::string shown() const;
};

// What the flags gave, by name; how to look into the environment; the file, if any.
struct SettingSources {
  std::map<std::string, std::string> flags;
  std::function<std::optional<std::string>(const std::string&)> environment;
  std::optional<std::string> config_file;
};
Result<std::vector<Setting>> resolve_settings(const SettingSources& sources);

std::string environment_name(std::string_view setting);  // BELFRY_LOG_LEVEL
std::string settings_table(const std::vector<Setting>& settings);

// none: local mode. token: requests bear an access token. oidc: that, or one of an issuer's.
enum class AuthMode { none, token, oidc };

struct ServeSettings {
  std::string host;
  std::uint16_t port = 0;
  std::string store_directory;
  std::string key_file;
  AuthMode auth = AuthMode::none;
  OidcSettings oidc;
  std::string first_token_file;  // empty: standard output
  LogLevel log_level = LogLevel::info;
  LogFormat log_format = LogFormat::text;
  int io_threads = 1;
  int workers = 4;
  CatchUp catch_up = CatchUp::latest;
  SuccessStatus success_status = SuccessStatus::omitted;
  Millis drain_grace{};
  Millis timeout{};  // of one attempt
  std::size_t body_bytes_max = 0;
  Millis history_kept{};
  std::string region;
  std::vector<IpRange> allowed_targets;
  std::optional<HttpProxy> proxy;
  std::string ca_file;  // empty: the system's authorities alone
  std::optional<TlsServerFiles> tls;
  bool behind_proxy = false;
  StorageQueueOptions storage_queue;
  ServiceBusOptions service_bus;
  OAuthOptions oauth;
  std::optional<Instant> virtual_clock;  // where it stands at first
  bool held = false;                     // nothing is sent
  Secret heartbeat_url;                  // empty: nobody outside is told that we live
  std::vector<std::string> locations;
  Plans plans;
  int connections_max = 0;
  Rates credential_rates;
  Rates subscription_rates;
  Rate failure_rate;

  // Everybody on this machine may do everything, and it may be called.
  bool local_mode() const { return auth == AuthMode::none; }
};

// The same, understood; an error names the setting, its value, its source and what is allowed.
Result<ServeSettings> read_settings(const std::vector<Setting>& settings);

// 127.0.0.0/8, ::1 or localhost.
bool is_loopback_host(const std::string& host);

}  // namespace belfry
