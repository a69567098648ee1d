// SPDX-License-Identifier: MIT

#include <fmt/format.h>

#include "app/config_file.h"
#include "app/settings.h"

namespace belfry {
namespace {

constexpr std::string_view kLocations =
    "North Central US, South Central US, North Europe, West Europe, East Asia, Southeast Asia, "
    "West US, East US, Japan West, Japan East, Brazil South, Central US, East US 2, "
    "Australia East, Australia Southeast, South India, Central India, West India, Canada Central, "
    "Canada East, UK West, UK South, West Central US, West US 2";

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const SettingRule& rule : setting_rules()) names.emplace_back(rule.name);
  return names;
}

}  // namespace

std::string Setting::shown() const {
  if (name == "heartbeat-url" && !value.empty()) return "***";
  return name == "proxy" ? without_proxy_password(value) : value;
}

const std::vector<SettingRule>& setting_rules() {
  static const std::vector<SettingRule> rules = {
      {"listen", "127.0.0.1:7070", "HOST:PORT", "where to accept connections; port 0 is any free"},
      {"store", "belfry-data", "DIR", "the directory of the embedded database"},
      {"key-file", "", "FILE", "what seals secrets; empty is secret.key in the store"},
      {"tls-certificate", "", "FILE", "our certificate and its chain (PEM): then https is served"},
      {"tls-key", "", "FILE", "its private key (PEM); both are read again when they change"},
      {"tls-client-ca", "", "FILE", "authorities (PEM) that clients must have a certificate of"},
      {"behind-proxy", "no", "", "a proxy does TLS: plain http may be served off loopback"},
      {"auth", "none", "MODE", "token: requests bear one; oidc: or an issuer's; none: local mode"},
      {"oidc-issuer", "", "URL", "whose bearer tokens are good, as iss names it; or a list"},
      {"oidc-jwks-url", "", "URL", "where its keys are; empty: the issuer is asked"},
      {"oidc-audience", "", "LIST", "what tokens for this server have in aud"},
      {"oidc-tenant", "", "ID", "what they must have in tid (Entra ID); empty: not asked for"},
      {"oidc-grants", "", "LIST", "who may do what: roles=Ringer:Operator@/subscriptions/s, …"},
      {"first-token-file", "", "FILE", "where the first owner's token is put, instead of printed"},
      {"log-level", "info", "LEVEL", "debug, info, warning or error"},
      {"log-format", "text", "FORMAT", "text or json"},
      {"io-threads", "1", "N", "threads that move bytes"},
      {"workers", "4", "N", "threads that read the store and write JSON"},
      {"catch-up", "latest", "POLICY", "what missed occurrences lead to: latest, all or none"},
      {"success-status", "omitted", "HOW", "in history, the status of a success: omitted, written"},
      {"timeout", "PT60S", "DURATION", "how long a target may take to answer"},
      {"body-max", "8192", "BYTES", "the body that a job may send; at most 1048576 (1 MB)"},
      {"history-kept", "P60D", "DURATION", "how long rows of history are there: P1D to P3660D"},
      {"allow-targets", "", "LIST", "private address ranges that jobs may call: 10.1.0.0/16, …"},
      {"proxy", "", "URL", "what calls go through: http://[user:password@]host:port"},
      {"no-proxy", "", "LIST", "what is called without it: intern.test, 10.0.0.0/8, …, or *"},
      {"region", "", "NAME", "what targets are told in x-ms-region"},
      {"ca-file", "", "FILE", "authorities (PEM) that targets may have besides the system's"},
      {"storage-queue-endpoint", "https://{account}.queue.core.windows.net", "URL",
       "where storage accounts have their queues"},
      {"storage-queue-envelope", "xml", "HOW", "messages in the old service's xml, or none"},
      {"storage-queue-encoding", "base64", "HOW", "how messages are written: base64 or text"},
      {"service-bus-endpoint", "https://{namespace}.servicebus.windows.net", "URL",
       "where Service Bus namespaces are, for netMessaging"},
      {"service-bus-amqp-endpoint", "amqps://{namespace}.servicebus.windows.net", "URL",
       "the same for AMQP; amqp:// is without TLS"},
      {"service-bus-amqp-address", "{entity}", "TEXT",
       "what the broker calls an {entity} of some {kind}: queue or topic"},
      {"service-bus-amqp-login", "cbs", "HOW", "tokens (cbs), or name and key (plain)"},
      {"service-bus-keys", "", "FILE", "keys for jobs that name none, by namespace (TOML)"},
      {"service-bus-token-lifetime", "PT20M", "DURATION", "for how long a token is good"},
      {"oauth-endpoint", "https://login.microsoftonline.com/{tenant}/oauth2/token", "URL",
       "where tokens for ActiveDirectoryOAuth come from"},
      {"virtual-clock", "", "TIME", "a clock that stands there until POST /clock moves it"},
      {"held", "no", "", "send nothing: to look at a copy without calling anybody"},
      {"connections-max", "10000", "N", "clients that may be connected at one time"},
      {"limit-credential-reads", "auto", "N", "reads a second of one credential; 0 is no limit"},
      {"limit-credential-writes", "auto", "N",
       "the same for writes; auto is half of a subscription's, without limit in local mode"},
      {"limit-subscription-reads", "auto", "N",
       "reads a second of one subscription; 0 is no limit"},
      {"limit-subscription-writes", "auto", "N",
       "the same for writes; auto is 2000 and 500, ten seconds' worth of it at once"},
      {"limit-failed-authentications", "auto", "N",
       "requests a second of one address without a known token; auto is 50, or none"},
      {"heartbeat-url", "", "URL", "what is called once a minute while all is well; a secret"},
      {"heartbeat-url-file", "", "FILE", "the same from a file, where flags can be seen by others"},
      {"plans", "open", "HOW", "what quotas may ask for: open (a million jobs), or azure's"},
      {"drain-grace", "PT30S", "DURATION", "how long a stop waits for what is under way"},
      {"locations", kLocations, "LIST", "the regions that collections may name, for clients"},
  };
  return rules;
}

std::string environment_name(std::string_view setting) {
  std::string name = "BELFRY_";
  for (const char c : setting) {
    name += c == '-' ? '_' : static_cast<char>('a' <= c && c <= 'z' ? c - 'a' + 'A' : c);
  }
  return name;
}

Result<std::vector<Setting>> resolve_settings(const SettingSources& sources) {
  std::map<std::string, std::string> file;
  if (sources.config_file) {
    TRY_ASSIGN(file, read_config_file(*sources.config_file, setting_names()));
  }
  std::vector<Setting> settings;
  for (const SettingRule& rule : setting_rules()) {
    const std::string name(rule.name);
    if (const auto flag = sources.flags.find(name); flag != sources.flags.end()) {
      settings.push_back({name, flag->second, "flag --" + name});
    } else if (const auto value = sources.environment(environment_name(name))) {
      settings.push_back({name, *value, "environment " + environment_name(name)});
    } else if (const auto given = file.find(name); given != file.end()) {
      settings.push_back({name, given->second, *sources.config_file});
    } else {
      settings.push_back({name, std::string(rule.fallback), "default"});
    }
  }
  return settings;
}

std::string settings_table(const std::vector<Setting>& settings) {
  std::string table;
  for (const Setting& setting : settings) {
    table += fmt::format("{:26} = {:24} # {}\n", setting.name,
                         fmt::format("\"{}\"", setting.shown()), setting.source);
  }
  return table;
}

}  // namespace belfry
