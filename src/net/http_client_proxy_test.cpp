// SPDX-License-Identifier: MIT
//
// Calls through a proxy: what it is asked for, what it may refuse, and what is still checked.

#include <gtest/gtest.h>

#include <atomic>

#include "net/http_client.h"
#include "net/http_client_scripted_target.h"
#include "net/http_client_test_calls.h"
#include "net/http_proxy.h"
#include "net/tls_client_test_certificates.h"

namespace belfry {
namespace {

void resolve_to_public(const std::string&, const ResolveDone& done) {
  done({{*IpAddress::parse("93.184.216.34")}, {}});
}

// Nothing but the proxy may be called: not even this machine, where the proxy is.
HttpClient::Options options_with_proxy(std::uint16_t port, const std::string& user = "") {
  HttpClient::Options options;
  options.tls = system_tls();
  options.resolve = resolve_to_public;
  const auto proxy = HttpProxy::parse("http://" + user + "127.0.0.1:" + std::to_string(port));
  EXPECT_TRUE(proxy);
  options.proxy = std::make_shared<HttpProxy>(*proxy);
  return options;
}

HttpCall secure_call(const std::string& host, std::uint16_t port) {
  HttpCall call = call_to(host, port);
  call.origin.https = true;
  return call;
}

void echo(Conversation& conversation) {
  for (std::string request; !(request = conversation.request()).empty();) {
    conversation.answer(request);
  }
}

// How a call through a proxy that does this ends.
HttpFailure failure_with(const ScriptedTarget::Script& script, HttpCall call,
                         Millis tunnel_timeout = kPatience) {
  const ScriptedTarget proxy(script);
  HttpClient::Options options = options_with_proxy(proxy.port());
  options.limits.tunnel_timeout = tunnel_timeout;
  const auto client = start_client(std::move(options));
  return failure_of(ask(*client, std::move(call)));
}

ScriptedTarget::Script answering(const std::string& answer) {
  return [answer](Conversation& conversation) {
    conversation.request();
    conversation.send_bytewise(answer);
  };
}

TEST(HttpClientProxy, AsksForAnHttpTargetInAbsoluteForm) {
  const ScriptedTarget proxy(echo);
  const auto client = start_client(options_with_proxy(proxy.port(), "user:sesame@"));
  HttpCall call = call_to("target.test", 80);
  call.target = "/ring?x=1";
  const std::string seen = reply_of(ask(*client, call)).body;
  EXPECT_EQ(seen,
            "GET http://target.test/ring?x=1 HTTP/1.1\r\nHost: target.test\r\n"
            "Proxy-Authorization: Basic dXNlcjpzZXNhbWU=\r\n\r\n");
  EXPECT_EQ(reply_of(ask(*client, call)).status, 200);
  EXPECT_EQ(proxy.connections(), 1u) << "kept for the next call";
}

TEST(HttpClientProxy, ReachesAnHttpsTargetThroughATunnelAndChecksItsCertificate) {
  const Identity authority = make_identity({.alternative_name = {}, .authority = true});
  const CertificateFile file(authority);
  const ServerTls tls = server_tls(make_identity(CertificateWish{}, &authority));
  const ScriptedTarget target(echo, {.tls = tls.get()});
  std::atomic<bool> authorized = false;
  const ScriptedTarget proxy([&](Conversation& conversation) {
    const std::string request = conversation.request();
    authorized =
        request == "CONNECT " + request.substr(8, request.find(' ', 8) - 8) +
                       " HTTP/1.1\r\nHost: " + request.substr(8, request.find(' ', 8) - 8) +
                       "\r\nProxy-Authorization: Basic dXNlcjpzZXNhbWU=\r\n\r\n";
    conversation.send_bytewise("HTTP/1.0 200 Connection established\r\nVia: x\r\n\r\n");
    conversation.tunnel_to(target.port());
  });
  HttpClient::Options options = options_with_proxy(proxy.port(), "user:sesame@");
  const auto trusting = TlsClient::make({.extra_ca_file = file.path()});
  ASSERT_TRUE(trusting);
  options.tls = *trusting;
  const auto client = start_client(std::move(options));
  const std::string seen = reply_of(ask(*client, secure_call("target.test", 443))).body;
  EXPECT_EQ(seen, "GET / HTTP/1.1\r\nHost: target.test\r\n\r\n") << "nothing of the proxy";
  EXPECT_TRUE(authorized);
  EXPECT_EQ(reply_of(ask(*client, secure_call("target.test", 443))).status, 200);
  EXPECT_EQ(proxy.connections(), 1u) << "the tunnel is kept for the next call";
  EXPECT_EQ(failure_of(ask(*client, secure_call("other.test", 443))).kind,
            HttpFailureKind::tls_trust);
}

TEST(HttpClientProxy, ReportsWhatTheProxyRefuses) {
  const HttpCall secure = secure_call("target.test", 443);
  const std::pair<const char*, const char*> cases[] = {
      {"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
       "it wants credentials, or other ones (407)"},
      {"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\nno!", "it answered 502"},
      {"HTTP/1.1 302 Found\r\n\r\n", "it answered 302"},
      {"HTTP/1.1 200", "it closed the connection"},
      {"", "it closed the connection"},
      {"220 mail.test ESMTP\r\n\r\n", "its answer is not HTTP"},
  };
  for (const auto& [answer, detail] : cases) {
    const HttpFailure failure = failure_with(answering(answer), secure);
    EXPECT_EQ(failure.kind, HttpFailureKind::proxy_refused) << answer;
    EXPECT_EQ(failure.detail, detail) << answer;
  }
  const HttpFailure silent =
      failure_with([](Conversation& proxy) { proxy.hang(); }, secure, Millis{50});
  EXPECT_EQ(silent.kind, HttpFailureKind::proxy_refused);
  EXPECT_EQ(silent.detail, "it did not answer within 0.05 s");
}

TEST(HttpClientProxy, TellsTheProxysOwnRefusalFromTheTargetsAnswer) {
  const HttpFailure failure = failure_with(
      answering("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n"), call_to("target.test", 80));
  EXPECT_EQ(failure.kind, HttpFailureKind::proxy_refused);
  EXPECT_EQ(failure.detail, "it wants credentials, or other ones (407)");
}

TEST(HttpClientProxy, ReportsAProxyThatIsDownWithoutNamingIt) {
  std::uint16_t port = 0;
  {
    const ScriptedTarget gone(echo);
    port = gone.port();
  }
  const auto client = start_client(options_with_proxy(port));
  const HttpFailure failure = failure_of(ask(*client, call_to("target.test", 80)));
  EXPECT_EQ(failure.kind, HttpFailureKind::proxy_connect);
  EXPECT_EQ(failure.detail, "the proxy: Connection refused");
}

TEST(HttpClientProxy, ReportsAProxyWhoseNameIsNotKnown) {
  HttpClient::Options options = options_with_proxy(1);
  options.proxy = std::make_shared<HttpProxy>(*HttpProxy::parse("http://proxy.test:1"));
  options.resolve = [](const std::string& host, const ResolveDone& done) {
    if (host == "proxy.test") return done({{}, "Domain name not found"});
    resolve_to_public(host, done);
  };
  const auto client = start_client(std::move(options));
  const HttpFailure failure = failure_of(ask(*client, call_to("target.test", 80)));
  EXPECT_EQ(failure.kind, HttpFailureKind::proxy_name_resolution);
}

// The guard's word counts for targets; the proxy itself is the operator's choice.
TEST(HttpClientProxy, HandsNoForbiddenTargetToTheProxy) {
  const ScriptedTarget proxy(echo);
  HttpClient::Options options = options_with_proxy(proxy.port());
  options.resolve = [](const std::string&, const ResolveDone& done) {
    done({{*IpAddress::parse("93.184.216.34"), *IpAddress::parse("10.0.0.1")}, {}});
  };
  const auto client = start_client(std::move(options));
  for (const char* host : {"127.0.0.1", "169.254.169.254", "::1", "mixed.test"}) {
    EXPECT_EQ(failure_of(ask(*client, call_to(host, 80))).kind, HttpFailureKind::forbidden_address)
        << host;
    EXPECT_EQ(failure_of(ask(*client, secure_call(host, 443))).kind,
              HttpFailureKind::forbidden_address)
        << host;
  }
  EXPECT_EQ(failure_of(ask(*client, call_to("0x7f.1", 80))).kind, HttpFailureKind::name_resolution);
  EXPECT_EQ(proxy.connections(), 0u);
}

// Behind many a proxy nobody else can look up names.
TEST(HttpClientProxy, LeavesNamesThatItCannotLookUpToTheProxy) {
  const ScriptedTarget proxy(echo);
  HttpClient::Options options = options_with_proxy(proxy.port());
  options.limits.proxied_resolve_timeout = Millis{30};
  options.resolve = [](const std::string& host, const ResolveDone& done) {
    if (host == "unknown.test") done({{}, "Domain name not found"});
  };
  const auto client = start_client(std::move(options));
  EXPECT_EQ(reply_of(ask(*client, call_to("unknown.test", 80))).status, 200);
  EXPECT_EQ(reply_of(ask(*client, call_to("unanswered.test", 80))).status, 200);
}

// The answer of a slow name server must not be dialled in place of the proxy.
TEST(HttpClientProxy, DoesNotTakeALateAddressOfTheTargetForTheProxys) {
  const ScriptedTarget proxy(echo);
  HttpClient::Options options = options_with_proxy(1);
  options.proxy = std::make_shared<HttpProxy>(
      *HttpProxy::parse("http://proxy.test:" + std::to_string(proxy.port())));
  options.limits.proxied_resolve_timeout = Millis{30};
  ResolveDone late;
  options.resolve = [&late](const std::string& host, const ResolveDone& done) {
    if (host == "target.test") {
      late = done;
      return;
    }
    late({{*IpAddress::parse("127.0.0.2")}, {}});
    done({{*IpAddress::parse("127.0.0.1")}, {}});
  };
  const auto client = start_client(std::move(options));
  EXPECT_EQ(reply_of(ask(*client, call_to("target.test", 80))).status, 200);
}

TEST(HttpClientProxy, CallsDirectHostsWithoutIt) {
  const ScriptedTarget proxy(echo);
  const ScriptedTarget target(echo);
  HttpClient::Options options = local_options();
  auto chosen = *HttpProxy::parse("http://user:sesame@127.0.0.1:" + std::to_string(proxy.port()));
  chosen.direct = *HttpDirectHosts::parse({"127.0.0.0/8"});
  options.proxy = std::make_shared<HttpProxy>(chosen);
  const auto client = start_client(std::move(options));
  EXPECT_EQ(reply_of(ask(*client, call_to(target.port()))).body,
            "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
  EXPECT_EQ(proxy.connections(), 0u);
}

TEST(HttpClientProxy, LetsNoCallBringProxyCredentialsOfItsOwn) {
  const auto client = start_client(local_options());
  HttpCall call = call_to(1);
  call.headers = {{"Proxy-Authorization", "Basic x"}};
  EXPECT_EQ(failure_of(ask(*client, call)).kind, HttpFailureKind::invalid_call);
}

}  // namespace
}  // namespace belfry
