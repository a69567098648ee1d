// SPDX-License-Identifier: MIT

#include "app/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace belfry {
namespace {

SettingSources sources(std::map<std::string, std::string> flags,
                       std::map<std::string, std::string> environment = {}) {
  return {std::move(flags),
          [environment = std::move(environment)](const std::string& name) {
            const auto it = environment.find(name);
            return it == environment.end() ? std::nullopt : std::optional(it->second);
          },
          std::nullopt};
}

Result<ServeSettings> understood(std::map<std::string, std::string> flags) {
  auto settings = resolve_settings(sources(std::move(flags)));
  if (!settings) return settings.error();
  return read_settings(*settings);
}

TEST(Settings, FlagsWinOverEnvironmentOverFileOverDefaults) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("belfry-settings-" + std::to_string(::getpid()) + ".toml");
  std::ofstream(path) << "listen = \"127.0.0.1:1\"\nstore = \"from-file\"\nworkers = 3\n";
  SettingSources all = sources({{"listen", "127.0.0.1:3"}},
                               {{"BELFRY_LISTEN", "127.0.0.1:2"}, {"BELFRY_STORE", "from-env"}});
  all.config_file = path.string();
  const auto settings = resolve_settings(all);
  std::filesystem::remove(path);
  ASSERT_TRUE(settings);
  const auto of = [&](const std::string& name) {
    return *std::find_if(settings->begin(), settings->end(),
                         [&](const Setting& setting) { return setting.name == name; });
  };
  EXPECT_EQ(of("listen").value, "127.0.0.1:3");
  EXPECT_EQ(of("listen").source, "flag --listen");
  EXPECT_EQ(of("store").value, "from-env");
  EXPECT_EQ(of("workers").value, "3");
  EXPECT_EQ(of("workers").source, path.string());
  EXPECT_EQ(of("log-level").source, "default");
}

// Without authentication nobody from outside may reach it.
TEST(Settings, WithoutAuthenticationOnlyALoopbackAddressIsAllowed) {
  EXPECT_TRUE(understood({{"listen", "127.0.0.1:0"}}));
  EXPECT_TRUE(understood({{"listen", "[::1]:0"}}));
  EXPECT_TRUE(understood({{"listen", "localhost:0"}}));
  for (const char* listen : {"0.0.0.0:7070", "[::]:7070", "192.168.1.1:7070", "example.test:1"}) {
    const auto settings = understood({{"listen", listen}, {"behind-proxy", "yes"}});
    ASSERT_FALSE(settings) << listen;
    EXPECT_NE(settings.error().message.find("loopback address while auth is none"),
              std::string::npos);
  }
}

// Whoever carries credentials in the clear must have said that somebody else does TLS.
TEST(Settings, WithoutTlsOnlyALoopbackAddressIsAllowed) {
  for (const char* listen : {"0.0.0.0:7070", "[::]:7070", "192.168.1.1:7070"}) {
    const auto settings = understood({{"listen", listen}});
    ASSERT_FALSE(settings) << listen;
    EXPECT_NE(settings.error().message.find("loopback address without TLS"), std::string::npos);
  }
  const auto with_tls = understood({{"tls-certificate", "c.pem"}, {"tls-key", "k.pem"}});
  ASSERT_TRUE(with_tls);
  ASSERT_TRUE(with_tls->tls);
  EXPECT_EQ(with_tls->tls->key, "k.pem");
}

const std::map<std::string, std::string> kOidc = {
    {"auth", "oidc"},
    {"oidc-issuer", "https://issuer.test/, http://127.0.0.1:8080"},
    {"oidc-audience", "belfry, https://belfry.test"},
    {"oidc-grants", "roles=admin:Owner@/, groups=a:Reader@/subscriptions/s"}};

TEST(Settings, IssuersOfTokensAreNamedWithWhatTheirClaimsEntitleTo) {
  const auto settings = understood(kOidc);
  ASSERT_TRUE(settings) << settings.error().message;
  ASSERT_EQ(settings->oidc.issuers.size(), 2U);
  EXPECT_EQ(settings->oidc.issuers[0].name, "https://issuer.test/");
  EXPECT_EQ(settings->oidc.issuers[0].jwks_url, "");
  EXPECT_EQ(settings->oidc.audiences[1], "https://belfry.test");
  ASSERT_EQ(settings->oidc.grants.size(), 2U);
  EXPECT_TRUE(grants_everything(settings->oidc));

  auto flags = kOidc;
  flags["oidc-jwks-url"] = "https://keys.test/1, https://keys.test/2";
  flags["oidc-grants"] = "roles=admin:Owner@/subscriptions/s";
  const auto with_urls = understood(flags);
  ASSERT_TRUE(with_urls);
  EXPECT_EQ(with_urls->oidc.issuers[1].jwks_url, "https://keys.test/2");
  EXPECT_FALSE(grants_everything(with_urls->oidc));
}

TEST(Settings, WhatIsWrongWithAnIssuerIsNamed) {
  const std::pair<const char*, const char*> wrong[] = {
      {"oidc-issuer", ""},
      {"oidc-issuer", "issuer.test"},
      {"oidc-issuer", "http://issuer.test"},
      {"oidc-issuer", "https://issuer.test, http://10.0.0.1"},
      {"oidc-jwks-url", "http://keys.test/1, https://keys.test/2"},
      {"oidc-jwks-url", "https://keys.test/1"},
      {"oidc-audience", ""},
      {"oidc-grants", ""},
      {"oidc-grants", "roles=admin:King@/"},
  };
  for (const auto& [name, value] : wrong) {
    auto flags = kOidc;
    flags[name] = value;
    const auto settings = understood(flags);
    ASSERT_FALSE(settings) << name << " " << value;
    EXPECT_EQ(settings.error().target, name) << value;
  }
  // Who names an issuer believes that its tokens are needed.
  for (const auto& [name, value] : kOidc) {
    if (name == "auth") continue;
    const auto settings = understood({{"auth", "token"}, {name, value}});
    ASSERT_FALSE(settings) << name;
    EXPECT_NE(settings.error().message.find("unless auth is oidc"), std::string::npos);
  }
}

TEST(Settings, ACertificateAndItsKeyGoTogether) {
  const auto target = [](std::map<std::string, std::string> flags) {
    const auto settings = understood(std::move(flags));
    return settings ? "" : settings.error().target;
  };
  EXPECT_EQ(target({{"tls-certificate", "c.pem"}}), "tls-key");
  EXPECT_EQ(target({{"tls-key", "k.pem"}}), "tls-certificate");
  EXPECT_EQ(target({{"tls-client-ca", "ca.pem"}}), "tls-client-ca");
}

TEST(Settings, WithTokensTooOnlyALoopbackAddressIsAllowedAsThereIsNoTls) {
  const auto settings = understood({{"listen", "127.0.0.1:0"}, {"auth", "token"}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->auth, AuthMode::token);
  EXPECT_FALSE(understood({{"listen", "0.0.0.0:0"}, {"auth", "token"}}));
}

TEST(Settings, WrongValuesNameTheSettingItsSourceAndWhatIsAllowed) {
  const std::pair<const char*, const char*> cases[] = {
      {"listen", "nowhere"},
      {"listen", "127.0.0.1:99999"},
      {"workers", "0"},
      {"workers", "many"},
      {"log-level", "loud"},
      {"catch-up", "some"},
      {"drain-grace", "long"},
      {"auth", "maybe"},
      {"behind-proxy", "perhaps"},
      {"store", ""},
      {"storage-queue-endpoint", "{account}.example"},
      {"storage-queue-endpoint", "https://{account}.example/?a=b"},
      {"storage-queue-envelope", "json"},
      {"storage-queue-encoding", "utf-16"},
      {"service-bus-endpoint", "sb://{namespace}"},
      {"service-bus-amqp-endpoint", "https://{namespace}"},
      {"service-bus-amqp-endpoint", "amqps://{namespace}/path"},
      {"service-bus-amqp-address", "/queue/{name}"},
      {"service-bus-amqp-login", "anonymous"},
      {"service-bus-token-lifetime", "PT0S"},
      {"service-bus-token-lifetime", "P2D"},
      {"connections-max", "0"},
      {"limit-credential-reads", "-1"},
      {"limit-credential-writes", "1000001"},
      {"limit-subscription-reads", "many"},
      {"limit-subscription-writes", ""},
      {"limit-failed-authentications", "1e3"},
      {"region", "here\r\nX-Evil: yes"},
      {"held", "perhaps"},
      {"plans", "closed"},
      {"heartbeat-url", "monitor.test/ping"},
      {"heartbeat-url-file", "/dev/null"},
  };
  for (const auto& [name, value] : cases) {
    const auto settings = understood({{name, value}});
    ASSERT_FALSE(settings) << name << "=" << value;
    EXPECT_EQ(settings.error().target, name);
    EXPECT_NE(settings.error().message.find("flag --"), std::string::npos);
  }
}

// In local mode there is one user, and a bulk load of theirs takes nothing from anybody.
TEST(Settings, RatesAreLimitedWhereThereAreTokensUnlessToldOtherwise) {
  const auto local = understood({});
  ASSERT_TRUE(local);
  EXPECT_TRUE(local->subscription_rates.writes.unlimited());
  EXPECT_TRUE(local->credential_rates.reads.unlimited());
  EXPECT_TRUE(local->failure_rate.unlimited());
  const auto shared = understood({{"auth", "token"}});
  ASSERT_TRUE(shared);
  EXPECT_EQ(shared->subscription_rates.reads, (Rate{2'000, 20'000}));
  EXPECT_EQ(shared->subscription_rates.writes, (Rate{500, 5'000}));
  EXPECT_EQ(shared->credential_rates.reads, (Rate{1'000, 10'000}));
  EXPECT_EQ(shared->credential_rates.writes, (Rate{250, 2'500}));
  EXPECT_EQ(shared->failure_rate, (Rate{50, 500}));
  const auto standing = understood({{"auth", "token"}, {"virtual-clock", "2030-01-01T00:00:00Z"}});
  ASSERT_TRUE(standing);
  EXPECT_TRUE(standing->subscription_rates.reads.unlimited());
  const auto chosen = understood({{"limit-subscription-writes", "3"}});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->subscription_rates.writes, (Rate{3, 30}));
  const auto free = understood({{"auth", "token"}, {"limit-credential-reads", "0"}});
  ASSERT_TRUE(free);
  EXPECT_TRUE(free->credential_rates.reads.unlimited());
}

// Whoever may read one collection must not use up what all who share the subscription may ask.
TEST(Settings, ACredentialHasHalfOfItsSubscriptionsRateUnlessToldOtherwise) {
  const auto slow = understood(
      {{"auth", "token"}, {"limit-subscription-reads", "11"}, {"limit-subscription-writes", "0"}});
  ASSERT_TRUE(slow);
  EXPECT_EQ(slow->credential_rates.reads, (Rate{6, 60}));
  EXPECT_EQ(slow->credential_rates.writes, (Rate{250, 2'500}));
  const auto chosen = understood({{"auth", "token"}, {"limit-credential-reads", "70"}});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->credential_rates.reads, (Rate{70, 700}));
}

TEST(Settings, BodiesMayBeLargerAndHistoryKeptLongerWithinLimits) {
  const auto usual = understood({});
  ASSERT_TRUE(usual);
  EXPECT_EQ(usual->body_bytes_max, 8192u);
  EXPECT_EQ(usual->history_kept, Millis{std::chrono::days{60}});
  const auto most = understood({{"body-max", "1048576"}, {"history-kept", "P3660D"}});
  ASSERT_TRUE(most);
  EXPECT_EQ(most->body_bytes_max, 1'048'576u);
  EXPECT_EQ(most->history_kept, Millis{std::chrono::days{3'660}});
  EXPECT_TRUE(understood({{"history-kept", "P1D"}}));
  for (const char* value : {"1048577", "8191", "64 KB"}) {
    EXPECT_FALSE(understood({{"body-max", value}})) << value;
  }
  for (const char* value : {"PT23H", "P3661D", "60"}) {
    EXPECT_FALSE(understood({{"history-kept", value}})) << value;
  }
}

TEST(Settings, TheProxysPasswordIsShownNowhere) {
  const auto settings =
      resolve_settings(sources({{"proxy", "http://user:sesame@proxy.test:3128"}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings_table(*settings).find("sesame"), std::string::npos);
  EXPECT_NE(settings_table(*settings).find("http://user:***@proxy.test:3128"), std::string::npos);
  const auto understood_settings = read_settings(*settings);
  ASSERT_TRUE(understood_settings);
  EXPECT_EQ(understood_settings->proxy->authorization, "Basic dXNlcjpzZXNhbWU=");
  const auto wrong = understood({{"proxy", "user:sesame@proxy.test"}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message.find("sesame"), std::string::npos);
  EXPECT_FALSE(understood({{"no-proxy", "not a host"}}));
}

TEST(Settings, AnUnknownNameInTheFileIsAnError) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("belfry-unknown-" + std::to_string(::getpid()) + ".toml");
  std::ofstream(path) << "lisren = \"127.0.0.1:1\"\n";
  SettingSources all = sources({});
  all.config_file = path.string();
  const auto settings = resolve_settings(all);
  std::filesystem::remove(path);
  ASSERT_FALSE(settings);
  EXPECT_EQ(
      settings.error().message,
      path.string() + ": there is no setting 'lisren', but 'listen'; `belfry config` lists them.");
}

// A file of the test's own, gone when it ends.
class TestFile {
 public:
  explicit TestFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("belfry-settings-test-" + std::to_string(::getpid()))) {
    std::ofstream(path_) << text;
  }
  ~TestFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(Settings, ATableInTheFileIsTheFirstPartOfItsSettingsNames) {
  const TestFile file("[storage-queue]\nenvelope = \"none\"\nencoding = \"text\"\n");
  SettingSources all = sources({});
  all.config_file = file.path();
  const auto settings = resolve_settings(all);
  ASSERT_TRUE(settings);
  const auto read = read_settings(*settings);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->storage_queue.envelope);
  EXPECT_FALSE(read->storage_queue.base64);
}

TEST(Settings, KeysComeFromAFileOfTheirOwnAndAreNotShown) {
  const TestFile file("[Contoso]\nsender = \"k3y\"\n\"an other\" = \"x\"\n");
  const auto settings = resolve_settings(sources({{"service-bus-keys", file.path()}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings_table(*settings).find("k3y"), std::string::npos);
  const auto read = read_settings(*settings);
  ASSERT_TRUE(read);
  const SharedAccessKeys expected = {{{"contoso", "an other"}, Secret("x")},
                                     {{"contoso", "sender"}, Secret("k3y")}};
  EXPECT_EQ(read->service_bus.keys, expected);
}

// Whoever knows it can call in the server's place, and the monitor would believe it alive.
TEST(Settings, TheHeartbeatsAddressIsShownNowhere) {
  const auto settings = resolve_settings(sources({{"heartbeat-url", "https://m.test/s3same"}}));
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings_table(*settings).find("s3same"), std::string::npos);
  EXPECT_EQ(read_settings(*settings)->heartbeat_url, Secret("https://m.test/s3same"));
  const auto wrong = understood({{"heartbeat-url", "m.test/s3same"}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message.find("s3same"), std::string::npos) << wrong.error().message;
}

TEST(Settings, TheHeartbeatsAddressMayStandInAFile) {
  const TestFile file("https://m.test/s3same\n");
  const auto read = understood({{"heartbeat-url-file", file.path()}});
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->heartbeat_url, Secret("https://m.test/s3same"));
  const auto both =
      understood({{"heartbeat-url-file", file.path()}, {"heartbeat-url", "https://m.test/"}});
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().target, "heartbeat-url-file");
  const TestFile none("m.test/s3same");
  const auto wrong = understood({{"heartbeat-url-file", none.path()}});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message.find("s3same"), std::string::npos) << wrong.error().message;
}

TEST(Settings, AFileOfKeysThatIsWrongIsAnErrorThatShowsNoKey) {
  EXPECT_FALSE(understood({{"service-bus-keys", "/nowhere/keys"}}));
  for (const char* text : {"sender = \"k3y\"", "[n]\nsender = 7", "[n]\nsender = \"\"", "[n"}) {
    const TestFile file(text);
    const auto read = understood({{"service-bus-keys", file.path()}});
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find(file.path()), std::string::npos);
    EXPECT_EQ(read.error().message.find("k3y"), std::string::npos);
  }
}

}  // namespace
}  // namespace belfry
