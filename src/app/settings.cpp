// SPDX-License-Identifier: MIT

#include "app/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "api/gate.h"
#include "app/input_file.h"
#include "app/service_bus_keys.h"
#include "dispatch/endpoint_template.h"
#include "dispatch/service_bus_amqp.h"
#include "model/url.h"
#include "net/http_syntax.h"
#include "wire/iso8601.h"

namespace belfry {
namespace {

constexpr int kBodyBytesSettableMax = 1024 * 1024;
constexpr Millis kHistoryKeptMin = std::chrono::days{1};
constexpr Millis kHistoryKeptMax = std::chrono::days{3'660};
constexpr Millis kTokenLifetimeMin = std::chrono::seconds{1};
constexpr Millis kTokenLifetimeMax = std::chrono::hours{24};

// What "auto" means for a subscription: about a tenth of what a machine with two cores serves.
constexpr int kSubscriptionReadsPerSecond = 2'000;
constexpr int kSubscriptionWritesPerSecond = 500;
// And for a credential: half of its subscription's, so that none uses up what others share.
constexpr int kCredentialReadsPerSecond = 1'000;
constexpr int kCredentialWritesPerSecond = 250;
static_assert(2 * kCredentialReadsPerSecond == kSubscriptionReadsPerSecond);
static_assert(2 * kCredentialWritesPerSecond == kSubscriptionWritesPerSecond);
constexpr int kFailuresPerSecond = 50;

// A bucket holds what comes back in so many seconds.
constexpr int kBurstSeconds = 10;
constexpr int kRateMax = 1'000'000;

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::size_t begin = std::min(text.find_first_not_of(' ', at), end);
    if (end > begin) items.push_back(text.substr(begin, end - begin));
    at = end + 1;
  }
  return items;
}

// A setting's text, and how to complain about it.
class Reader {
 public:
  explicit Reader(const std::vector<Setting>& settings) {
    for (const Setting& setting : settings) by_name_[setting.name] = &setting;
  }

  const std::string& text(const std::string& name) const { return by_name_.at(name)->value; }

  Error wrong(const std::string& name, std::string_view allowed) const {
    const Setting& setting = *by_name_.at(name);
    return {ErrorCode::invalid,
            fmt::format("setting '{}' (from {}) must be {}; it is '{}'.", name, setting.source,
                        allowed, setting.shown()),
            name};
  }

  Result<int> integer(const std::string& name, int min, int max) const {
    const std::string& value = text(name);
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc{} || end != value.data() + value.size() || number < min ||
        number > max) {
      return wrong(name, fmt::format("an integer from {} to {}", min, max));
    }
    return number;
  }

  Result<Millis> duration(const std::string& name) const {
    const auto parsed = parse_duration(text(name));
    if (!parsed) return wrong(name, "a duration such as PT30S or 00:00:30");
    return std::chrono::ceil<Millis>(*parsed);
  }

  Result<std::vector<IpRange>> ranges(const std::string& name) const {
    std::vector<IpRange> out;
    for (const std::string& item : split_list(text(name))) {
      const auto range = IpRange::parse(item);
      if (!range) return wrong(name, "a list of address ranges such as 10.1.0.0/16, fd00::/8");
      out.push_back(*range);
    }
    return out;
  }

  template <typename T, std::size_t N>
  Result<T> choice(const std::string& name, const Spelling<T> (&spellings)[N]) const {
    std::vector<std::string_view> names;
    for (const auto& [spelling, value] : spellings) {
      if (text(name) == spelling) return value;
      names.push_back(spelling);
    }
    return wrong(name, fmt::format("one of {}", fmt::join(names, ", ")));
  }

  Result<bool> answer(const std::string& name) const {
    constexpr Spelling<bool> kAnswers[] = {{"no", false}, {"yes", true}};
    return choice(name, kAnswers);
  }

 private:
  std::map<std::string, const Setting*> by_name_;
};

Status read_listen(const Reader& reader, ServeSettings& out) {
  const std::string& listen = reader.text("listen");
  const auto colon = listen.rfind(':');
  constexpr std::string_view kAllowed = "HOST:PORT such as 127.0.0.1:7070 or [::1]:7070";
  if (colon == std::string::npos) return reader.wrong("listen", kAllowed);
  out.host = listen.substr(0, colon);
  if (out.host.size() > 2 && out.host.front() == '[' && out.host.back() == ']') {
    out.host = out.host.substr(1, out.host.size() - 2);
  }
  if (out.host == "localhost") out.host = "127.0.0.1";
  int port = 0;
  const char* end = listen.data() + listen.size();
  const auto [rest, error] = std::from_chars(listen.data() + colon + 1, end, port);
  if (error != std::errc{} || rest != end || port < 0 || port > 65535 || out.host.empty()) {
    return reader.wrong("listen", kAllowed);
  }
  out.port = static_cast<std::uint16_t>(port);
  return Done{};
}

Result<std::string> read_endpoint(const Reader& reader, const std::string& name,
                                  std::string_view placeholder) {
  if (endpoint_of(reader.text(name), placeholder, "name")) return reader.text(name);
  return reader.wrong(name, fmt::format("an http or https address without a query, in which {} "
                                        "stands for the name",
                                        placeholder));
}

Status read_storage_queue(const Reader& reader, StorageQueueOptions& out) {
  constexpr Spelling<bool> kEnvelopes[] = {{"xml", true}, {"none", false}};
  constexpr Spelling<bool> kEncodings[] = {{"base64", true}, {"text", false}};
  TRY_ASSIGN(out.endpoint, read_endpoint(reader, "storage-queue-endpoint", kAccountPlaceholder));
  TRY_ASSIGN(out.envelope, reader.choice("storage-queue-envelope", kEnvelopes));
  TRY_ASSIGN(out.base64, reader.choice("storage-queue-encoding", kEncodings));
  return Done{};
}

Status read_service_bus(const Reader& reader, ServiceBusOptions& out) {
  TRY_ASSIGN(out.endpoint, read_endpoint(reader, "service-bus-endpoint", kNamespacePlaceholder));
  out.amqp_endpoint = reader.text("service-bus-amqp-endpoint");
  if (!amqp_endpoint_of(out.amqp_endpoint, "name")) {
    return reader.wrong("service-bus-amqp-endpoint",
                        "amqps://HOST or amqp://HOST:PORT, in which {namespace} stands for the "
                        "name");
  }
  constexpr Spelling<AmqpLogin> kLogins[] = {{"cbs", AmqpLogin::token},
                                             {"plain", AmqpLogin::plain}};
  TRY_ASSIGN(out.amqp_login, reader.choice("service-bus-amqp-login", kLogins));
  out.amqp_address = reader.text("service-bus-amqp-address");
  if (out.amqp_address.find("{entity}") == std::string::npos) {
    return reader.wrong("service-bus-amqp-address", "a text with {entity} in it");
  }
  TRY_ASSIGN(out.token_lifetime, reader.duration("service-bus-token-lifetime"));
  if (out.token_lifetime < kTokenLifetimeMin || out.token_lifetime > kTokenLifetimeMax) {
    return reader.wrong("service-bus-token-lifetime", "a duration from 1 second to 1 day");
  }
  if (reader.text("service-bus-keys").empty()) return Done{};
  TRY_ASSIGN(out.keys, read_service_bus_keys(reader.text("service-bus-keys")));
  return Done{};
}

// Who listens where others can reach it must be safe from being overheard.
Status read_tls(const Reader& reader, ServeSettings& out) {
  TRY_ASSIGN(out.behind_proxy, reader.answer("behind-proxy"));
  const TlsServerFiles files{reader.text("tls-certificate"), reader.text("tls-key"),
                             reader.text("tls-client-ca")};
  if (files.certificate.empty() && !files.key.empty()) {
    return reader.wrong("tls-certificate", "a file where tls-key is one");
  }
  if (files.key.empty() && !files.certificate.empty()) {
    return reader.wrong("tls-key", "a file where tls-certificate is one");
  }
  if (files.certificate.empty() && !files.client_ca.empty()) {
    return reader.wrong("tls-client-ca", "empty without tls-certificate and tls-key");
  }
  if (!files.certificate.empty()) out.tls = files;
  if (out.tls || out.behind_proxy || is_loopback_host(out.host)) return Done{};
  return reader.wrong("listen",
                      "a loopback address without TLS; set tls-certificate and tls-key, or "
                      "behind-proxy where a proxy does TLS");
}

// Whoever can change what an issuer says of its keys can be anybody here.
bool is_safe_address(const std::string& address) {
  const auto url = parse_url(address);
  return url && (url->https || is_loopback_host(url->host));
}

Status read_issuers(const Reader& reader, OidcSettings& out) {
  const auto names = split_list(reader.text("oidc-issuer"));
  const auto urls = split_list(reader.text("oidc-jwks-url"));
  const auto safe = [](const auto& addresses) {
    return std::all_of(addresses.begin(), addresses.end(), is_safe_address);
  };
  constexpr std::string_view kAddress = "an https address (http on loopback), or a list of them";
  if (names.empty() || !safe(names)) return reader.wrong("oidc-issuer", kAddress);
  if (!safe(urls)) return reader.wrong("oidc-jwks-url", kAddress);
  if (!urls.empty() && urls.size() != names.size()) {
    return reader.wrong("oidc-jwks-url", "empty, or one address for each issuer");
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    out.issuers.push_back({names[i], urls.empty() ? "" : urls[i]});
  }
  return Done{};
}

Status read_oidc(const Reader& reader, ServeSettings& out) {
  if (out.auth != AuthMode::oidc) {
    for (const char* name :
         {"oidc-issuer", "oidc-jwks-url", "oidc-audience", "oidc-tenant", "oidc-grants"}) {
      if (!reader.text(name).empty()) return reader.wrong(name, "empty unless auth is oidc");
    }
    return Done{};
  }
  if (auto read = read_issuers(reader, out.oidc); !read) return read;
  out.oidc.audiences = split_list(reader.text("oidc-audience"));
  if (out.oidc.audiences.empty()) {
    return reader.wrong("oidc-audience", "what tokens for this server have in aud");
  }
  out.oidc.tenant = reader.text("oidc-tenant");
  auto grants = parse_claim_grants(reader.text("oidc-grants"));
  if (!grants) return reader.wrong("oidc-grants", "a list of grants: " + grants.error().message);
  if (grants->empty()) {
    return reader.wrong("oidc-grants", "a list such as roles=Belfry.Admin:Owner@/");
  }
  out.oidc.grants = *std::move(grants);
  return Done{};
}

Result<Rate> read_rate(const Reader& reader, const std::string& name, int usual) {
  int per_second = usual;
  if (reader.text(name) != "auto") {
    const auto given = reader.integer(name, 0, kRateMax);
    if (!given) {
      return reader.wrong(
          name, fmt::format("auto, or an integer from 0, which is no limit, to {}", kRateMax));
    }
    per_second = *given;
  }
  return Rate{per_second, std::int64_t{per_second} * kBurstSeconds};
}

// Half of what all together may ask of a subscription; as usual where they may as often as they
// like.
int half_of(const Rate& subscription, int usual) {
  if (subscription.unlimited()) return usual;
  return static_cast<int>((subscription.per_second + 1) / 2);
}

Status read_subscription_rates(const Reader& reader, bool shared, Rates& out) {
  TRY_ASSIGN(out.reads, read_rate(reader, "limit-subscription-reads",
                                  shared ? kSubscriptionReadsPerSecond : 0));
  TRY_ASSIGN(out.writes, read_rate(reader, "limit-subscription-writes",
                                   shared ? kSubscriptionWritesPerSecond : 0));
  return Done{};
}

Status read_credential_rates(const Reader& reader, bool shared, const Rates& subscription,
                             Rates& out) {
  const int reads = half_of(subscription.reads, kCredentialReadsPerSecond);
  const int writes = half_of(subscription.writes, kCredentialWritesPerSecond);
  TRY_ASSIGN(out.reads, read_rate(reader, "limit-credential-reads", shared ? reads : 0));
  TRY_ASSIGN(out.writes, read_rate(reader, "limit-credential-writes", shared ? writes : 0));
  return Done{};
}

// In local mode one user has nobody to leave something to, and under a virtual clock, which
// stands still, nothing would come back: "auto" is no limit there.
Status read_limits(const Reader& reader, ServeSettings& out) {
  TRY_ASSIGN(out.connections_max, reader.integer("connections-max", 1, 1'000'000));
  const bool shared = out.auth != AuthMode::none && !out.virtual_clock;
  TRY_ASSIGN(out.failure_rate,
             read_rate(reader, "limit-failed-authentications", shared ? kFailuresPerSecond : 0));
  const Status read = read_subscription_rates(reader, shared, out.subscription_rates);
  if (!read) return read;
  return read_credential_rates(reader, shared, out.subscription_rates, out.credential_rates);
}

Result<Secret> read_heartbeat_url(const Reader& reader) {
  const std::string& file = reader.text("heartbeat-url-file");
  std::string url = reader.text("heartbeat-url");
  if (!file.empty() && !url.empty()) {
    return reader.wrong("heartbeat-url-file", "empty where heartbeat-url is set");
  }
  if (!file.empty()) {
    TRY_ASSIGN(url, read_settings_file(file));
    url.erase(url.find_last_not_of(" \r\n") + 1);
    if (!parse_url(url)) {
      return reader.wrong("heartbeat-url-file", "a file with an http or https address in it");
    }
  }
  if (!url.empty() && !parse_url(url)) {
    return reader.wrong("heartbeat-url", "an http or https address");
  }
  return Secret(std::move(url));
}

Result<Plans> read_plans(const Reader& reader) {
  constexpr Spelling<bool> kPlans[] = {{"open", true}, {"azure", false}};
  TRY_ASSIGN(const bool open, reader.choice("plans", kPlans));
  return open ? Plans::open() : Plans::azure();
}

// What a job may be, and how long it is told of.
Status read_sizes(const Reader& reader, ServeSettings& out) {
  const auto body = reader.integer("body-max", kBodyBytesMax, kBodyBytesSettableMax);
  if (!body) return body.error();
  out.body_bytes_max = static_cast<std::size_t>(*body);
  TRY_ASSIGN(out.history_kept, reader.duration("history-kept"));
  if (kHistoryKeptMin <= out.history_kept && out.history_kept <= kHistoryKeptMax) return Done{};
  return reader.wrong("history-kept", "a duration from 1 day to 3,660 days");
}

Status read_proxy(const Reader& reader, ServeSettings& out) {
  const auto direct = HttpDirectHosts::parse(split_list(reader.text("no-proxy")));
  if (!direct) return reader.wrong("no-proxy", "a list of names and address ranges, or *");
  if (reader.text("proxy").empty()) return Done{};
  out.proxy = HttpProxy::parse(reader.text("proxy"));
  if (!out.proxy) return reader.wrong("proxy", "an address http://[user:password@]host:port");
  out.proxy->direct = *direct;
  return Done{};
}

}  // namespace

bool is_loopback_host(const std::string& host) {
  return is_loopback_authority(host.find(':') == std::string::npos ? host : "[" + host + "]");
}

Result<ServeSettings> read_settings(const std::vector<Setting>& settings) {
  constexpr Spelling<LogLevel> kLevels[] = {{"debug", LogLevel::debug},
                                            {"info", LogLevel::info},
                                            {"warning", LogLevel::warning},
                                            {"error", LogLevel::error}};
  constexpr Spelling<LogFormat> kFormats[] = {{"text", LogFormat::text}, {"json", LogFormat::json}};
  constexpr Spelling<CatchUp> kCatchUps[] = {
      {"latest", CatchUp::latest}, {"all", CatchUp::all}, {"none", CatchUp::none}};
  constexpr Spelling<SuccessStatus> kStatuses[] = {{"omitted", SuccessStatus::omitted},
                                                   {"written", SuccessStatus::written}};
  constexpr Spelling<AuthMode> kAuths[] = {
      {"none", AuthMode::none}, {"token", AuthMode::token}, {"oidc", AuthMode::oidc}};

  const Reader reader(settings);
  ServeSettings out;
  if (auto read = read_listen(reader, out); !read) return read.error();
  out.store_directory = reader.text("store");
  if (out.store_directory.empty()) return reader.wrong("store", "a directory");
  out.key_file = reader.text("key-file");
  if (auto read = read_tls(reader, out); !read) return read.error();
  TRY_ASSIGN(out.auth, reader.choice("auth", kAuths));
  if (out.auth == AuthMode::none && !is_loopback_host(out.host)) {
    return reader.wrong("listen", "a loopback address while auth is none");
  }
  if (auto read = read_oidc(reader, out); !read) return read.error();
  out.first_token_file = reader.text("first-token-file");
  TRY_ASSIGN(out.log_level, reader.choice("log-level", kLevels));
  TRY_ASSIGN(out.log_format, reader.choice("log-format", kFormats));
  TRY_ASSIGN(out.io_threads, reader.integer("io-threads", 1, 64));
  TRY_ASSIGN(out.workers, reader.integer("workers", 1, 15));
  TRY_ASSIGN(out.catch_up, reader.choice("catch-up", kCatchUps));
  TRY_ASSIGN(out.success_status, reader.choice("success-status", kStatuses));
  TRY_ASSIGN(out.drain_grace, reader.duration("drain-grace"));
  TRY_ASSIGN(out.timeout, reader.duration("timeout"));
  if (auto read = read_sizes(reader, out); !read) return read.error();
  out.region = reader.text("region");
  if (!is_field_value(out.region)) {
    return reader.wrong("region", "a text without control characters: it is sent in a header");
  }
  TRY_ASSIGN(out.allowed_targets, reader.ranges("allow-targets"));
  if (auto read = read_proxy(reader, out); !read) return read.error();
  out.ca_file = reader.text("ca-file");
  if (auto read = read_storage_queue(reader, out.storage_queue); !read) return read.error();
  if (auto read = read_service_bus(reader, out.service_bus); !read) return read.error();
  TRY_ASSIGN(out.oauth.endpoint, read_endpoint(reader, "oauth-endpoint", kTenantPlaceholder));
  if (!reader.text("virtual-clock").empty()) {
    out.virtual_clock = parse_instant(reader.text("virtual-clock"));
    if (!out.virtual_clock) {
      return reader.wrong("virtual-clock", "a date and time such as 2030-01-01T00:00:00Z");
    }
  }
  TRY_ASSIGN(out.held, reader.answer("held"));
  if (auto read = read_limits(reader, out); !read) return read.error();
  out.locations = split_list(reader.text("locations"));
  TRY_ASSIGN(out.plans, read_plans(reader));
  TRY_ASSIGN(out.heartbeat_url, read_heartbeat_url(reader));
  return out;
}

}  // namespace belfry
