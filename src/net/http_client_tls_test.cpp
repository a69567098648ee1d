// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>
#include <pthread.h>

#include <future>

#include "net/http_client.h"
#include "net/http_client_scripted_target.h"
#include "net/http_client_test_calls.h"
#include "net/pfx.h"
#include "net/pfx_crafted.h"
#include "net/tls_client_test_certificates.h"

namespace belfry {
namespace {

void echo(Conversation& conversation) {
  for (std::string request; !(request = conversation.request()).empty();) {
    conversation.answer(request);
  }
}

// A target with the given certificate, called as `host`; the client trusts the authority.
class TlsTarget {
 public:
  explicit TlsTarget(const CertificateWish& wish, ScriptedTarget::Script script = echo)
      : TlsTarget(make_identity(wish, &authority()), std::move(script)) {}

  explicit TlsTarget(const Identity& identity, ScriptedTarget::Script script = echo)
      : tls_(server_tls(identity)), target_(std::move(script), {.tls = tls_.get()}) {
    HttpClient::Options options = local_options();
    options.tls = trusting();
    options.resolve = [](const std::string&, const ResolveDone& done) {
      done({{*IpAddress::parse("127.0.0.1")}, {}});
    };
    client_ = start_client(std::move(options));
  }

  static const Identity& authority() {
    static const Identity made = make_identity({.alternative_name = {}, .authority = true});
    return made;
  }

  HttpCall call(const std::string& host = "target.test") const {
    HttpCall call = call_to(host, target_.port());
    call.origin.https = true;
    return call;
  }

  HttpResult ask_as(const std::string& host = "target.test") { return ask(*client_, call(host)); }
  HttpClient& client() { return *client_; }
  const ScriptedTarget& target() const { return target_; }
  static std::shared_ptr<const TlsClient> trusting() {
    static const CertificateFile file(authority());
    static const auto made = TlsClient::make({.extra_ca_file = file.path()});
    EXPECT_TRUE(made.has_value());
    return *made;
  }

 private:
  ServerTls tls_;
  ScriptedTarget target_;
  std::unique_ptr<HttpClient> client_;
};

void expect_untrusted(const HttpResult& result, const std::string& detail) {
  const HttpFailure failure = failure_of(result);
  EXPECT_EQ(failure.kind, HttpFailureKind::tls_trust);
  EXPECT_EQ(failure.detail, detail);
}

TEST(HttpClientTls, CallsATargetThatAKnownAuthorityVouchesFor) {
  TlsTarget target(CertificateWish{});
  EXPECT_EQ(reply_of(target.ask_as()).status, 200);
  EXPECT_EQ(reply_of(target.ask_as()).status, 200);
  EXPECT_EQ(target.target().connections(), 1u) << "kept for the next call";
}

// Whoever has that key: it signs nothing, for the target does not ask who calls.
std::shared_ptr<const TlsClient> shown(const TlsTarget& target, EVP_PKEY* key) {
  Identity own = make_identity({});
  X509_set_pubkey(own.certificate.get(), key);
  CraftedPfx file;
  const auto pfx = Pfx::open(file.certificates(own).key(key).base64(), "");
  EXPECT_TRUE(pfx) << pfx.error().message;
  const auto made = target.trusting()->as(pfx->kept());
  EXPECT_TRUE(made);
  return *made;
}

std::string thread_of_a_call(TlsTarget& target, std::shared_ptr<const TlsClient> as) {
  HttpCall call = target.call();
  call.tls = std::move(as);
  std::promise<std::string> name;
  EXPECT_TRUE(target.client().send(call, [&](const HttpResult& result) {
    EXPECT_EQ(reply_of(result).status, 200);
    char text[16] = {};
    pthread_getname_np(pthread_self(), text, sizeof text);
    name.set_value(text);
  }));
  return name.get_future().get();
}

// A signature of RSA-4096 takes milliseconds, and others' calls go on meanwhile.
TEST(HttpClientTls, WhoSignsSlowlyHasAThreadApart) {
  TlsTarget target(CertificateWish{});
  EXPECT_EQ(thread_of_a_call(target, nullptr), "http-out");
  const KeyPtr p256(EVP_EC_gen("P-256"));
  EXPECT_EQ(thread_of_a_call(target, shown(target, p256.get())), "http-out");
  EXPECT_EQ(thread_of_a_call(target, shown(target, rsa_of_size(2048).get())), "http-out");
  EXPECT_EQ(thread_of_a_call(target, shown(target, rsa_of_size(4096).get())), "http-sign");
}

// It is known when it is needed, and told as the failure that it is.
TEST(HttpClientTls, TellsOfACertificateThatTlsCannotUse) {
  TlsTarget target(CertificateWish{});
  HttpCall call = target.call();
  call.tls = shown(target, rsa_of_size(512).get());
  EXPECT_FALSE(call.tls->usable());
  const HttpFailure failure = failure_of(ask(target.client(), call));
  EXPECT_EQ(failure.kind, HttpFailureKind::tls_handshake);
  EXPECT_EQ(failure.detail, "the client certificate is not one that TLS can use");
}

TEST(HttpClientTls, AcceptsAnAddressInTheCertificate) {
  TlsTarget target({.alternative_name = "IP:127.0.0.1"});
  EXPECT_EQ(reply_of(target.ask_as("127.0.0.1")).status, 200);
}

TEST(HttpClientTls, AcceptsAWildcardForOneLabel) {
  TlsTarget target({.alternative_name = "DNS:*.target.test"});
  EXPECT_EQ(reply_of(target.ask_as("a.target.test")).status, 200);
  expect_untrusted(target.ask_as("a.b.target.test"),
                   "the certificate is not for 'a.b.target.test'");
}

TEST(HttpClientTls, RefusesAnotherHostsCertificate) {
  TlsTarget target(CertificateWish{});
  expect_untrusted(target.ask_as("other.test"), "the certificate is not for 'other.test'");
  expect_untrusted(target.ask_as("127.0.0.1"), "the certificate is not for '127.0.0.1'");
}

TEST(HttpClientTls, RefusesAnExpiredCertificate) {
  TlsTarget target({.valid_from_seconds = -7200, .valid_until_seconds = -3600});
  expect_untrusted(target.ask_as(), "the certificate has expired");
}

TEST(HttpClientTls, RefusesACertificateOfTheFuture) {
  TlsTarget target({.valid_from_seconds = 3600, .valid_until_seconds = 7200});
  expect_untrusted(target.ask_as(), "the certificate is not valid yet");
}

TEST(HttpClientTls, RefusesASelfSignedCertificate) {
  TlsTarget target(make_identity(CertificateWish{}));
  expect_untrusted(target.ask_as(), "the certificate is self-signed");
}

TEST(HttpClientTls, RefusesAnUnknownAuthority) {
  const Identity stranger = make_identity({.alternative_name = {}, .authority = true});
  TlsTarget target(make_identity(CertificateWish{}, &stranger));
  const HttpFailure failure = failure_of(target.ask_as());
  EXPECT_EQ(failure.kind, HttpFailureKind::tls_trust) << failure.detail;
}

TEST(HttpClientTls, RefusesATargetThatDoesNotSpeakTls) {
  const ScriptedTarget plain([](Conversation& conversation) {
    conversation.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    conversation.hang();
  });
  const auto client = start_client(local_options());
  HttpCall call = call_to(plain.port());
  call.origin.https = true;
  EXPECT_EQ(failure_of(ask(*client, call)).kind, HttpFailureKind::tls_handshake);
}

TEST(HttpClientTls, RefusesOldVersions) {
  const Identity identity = make_identity(CertificateWish{}, &TlsTarget::authority());
  const ServerTls old = server_tls(identity);
  SSL_CTX_set_min_proto_version(old.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(old.get(), TLS1_1_VERSION);
  SSL_CTX_set_cipher_list(old.get(), "DEFAULT:@SECLEVEL=0");
  const ScriptedTarget target(echo, {.tls = old.get()});
  const auto client = start_client(local_options());
  HttpCall call = call_to(target.port());
  call.origin.https = true;
  EXPECT_EQ(failure_of(ask(*client, call)).kind, HttpFailureKind::tls_handshake);
}

TEST(HttpClientTls, GivesUpOnAHandshakeThatHangs) {
  const ScriptedTarget silent([](Conversation& conversation) { conversation.hang(); });
  HttpClientLimits limits;
  limits.tls_timeout = Millis{50};
  const auto client = start_client(local_options(limits));
  HttpCall call = call_to(silent.port());
  call.origin.https = true;
  const HttpFailure failure = failure_of(ask(*client, call));
  EXPECT_EQ(failure.kind, HttpFailureKind::tls_handshake);
  EXPECT_EQ(failure.detail, "the handshake was not finished within 0.05 s");
}

// Many servers end so: the body is whole as far as anybody can tell.
TEST(HttpClientTls, TakesABodyThatEndsWithTheConnection) {
  TlsTarget target(CertificateWish{}, [](Conversation& conversation) {
    conversation.request();
    conversation.send("HTTP/1.1 200 OK\r\n\r\nall there is");
  });
  EXPECT_EQ(reply_of(target.ask_as()).body, "all there is");
}

TEST(HttpClientTls, SendsALargeBodyWhole) {
  TlsTarget target(CertificateWish{}, [](Conversation& conversation) {
    conversation.answer(std::to_string(conversation.request().size()));
  });
  HttpCall call = target.call();
  call.method = "POST";
  call.body = std::string(1024 * 1024, 'x');
  EXPECT_GT(std::stoul(reply_of(ask(target.client(), call)).body), call.body.size());
}

TEST(HttpClientTls, TakesAnAnswerThatComesBeforeTheBodyIsSent) {
  TlsTarget target(CertificateWish{}, [](Conversation& conversation) {
    conversation.answer("", "HTTP/1.1 413 Content Too Large");
    conversation.hang();
  });
  HttpCall call = target.call();
  call.method = "POST";
  call.body = std::string(8 * 1024 * 1024, 'x');
  EXPECT_EQ(reply_of(ask(target.client(), call)).status, 413);
}

// Who shows another certificate, or trusts others, must not ride on this connection.
TEST(HttpClientTls, SharesNoConnectionBetweenIdentities) {
  TlsTarget target(CertificateWish{});
  EXPECT_EQ(reply_of(target.ask_as()).status, 200);
  HttpCall call = target.call();
  call.tls = system_tls();
  EXPECT_EQ(failure_of(ask(target.client(), call)).kind, HttpFailureKind::tls_trust);
}

TEST(HttpClientTls, SaysWhenABundleCannotBeRead) {
  EXPECT_FALSE(TlsClient::make({.extra_ca_file = "/nonexistent"}).has_value());
}

}  // namespace
}  // namespace belfry
