// SPDX-License-Identifier: MIT

#include <gtest/gtest.h>

#include <thread>

#include "net/http_test_server.h"
#include "net/loopback_client.h"
#include "net/tls_client_test_certificates.h"
#include "net/tls_server.h"

namespace belfry {
namespace {

using ClientTls = std::unique_ptr<SSL_CTX, FreeX509>;

class HttpServerTlsTest : public testing::Test {
 protected:
  HttpServerTlsTest()
      : authority_(make_identity({.authority = true})),
        identity_(make_identity({}, &authority_)),
        certificate_file_(identity_),
        key_file_(identity_.key.get()),
        authority_file_(authority_) {}

  std::shared_ptr<TlsServer> tls(bool for_clients_with_certificates = false) {
    auto made = TlsServer::make({certificate_file_.path(), key_file_.path(),
                                 for_clients_with_certificates ? authority_file_.path() : ""});
    EXPECT_TRUE(made) << made.error().message;
    return *std::move(made);
  }

  std::unique_ptr<HttpServer> serve_tls(HttpServer::Handler handler,
                                        const HttpServerLimits& limits = {}) {
    HttpServer::Options options;
    options.handler = std::move(handler);
    options.limits = limits;
    options.shares.patience_when_full = std::chrono::hours{1};
    options.tls = tls();
    return serve(std::move(options));
  }

  // Trusts the authority and wants the server to be target.test.
  ClientTls client_tls(const Identity* shown = nullptr) const {
    ClientTls context(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_load_verify_file(context.get(), authority_file_.path().c_str());
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    X509_VERIFY_PARAM_set1_host(SSL_CTX_get0_param(context.get()), "target.test", 0);
    if (shown != nullptr) {
      SSL_CTX_use_certificate(context.get(), shown->certificate.get());
      SSL_CTX_use_PrivateKey(context.get(), shown->key.get());
    }
    return context;
  }

  LoopbackClient client(const HttpServer& server) const {
    LoopbackClient made(server.port());
    EXPECT_TRUE(made.secure(client_tls().get()));
    return made;
  }

  Identity authority_;
  Identity identity_;
  CertificateFile certificate_file_;
  CertificateFile key_file_;
  CertificateFile authority_file_;
};

TEST_F(HttpServerTlsTest, ServesManyRequestsOnAConnection) {
  const auto server = serve_tls(echo);
  LoopbackClient one = client(*server);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(one.ask(get("/a")).body, "GET /a ");
  one.send(get("/x") + get("/y"));
  EXPECT_EQ(one.answer().body, "GET /x ");
  EXPECT_EQ(one.answer().body, "GET /y ");
  EXPECT_EQ(server->open_connections(), 1U);
}

// More than a record of TLS, and than its buffers, in both directions.
TEST_F(HttpServerTlsTest, CarriesLargeBodies) {
  const auto server = serve_tls(echo);
  const std::string body(200'000, 'b');
  LoopbackClient one = client(*server);
  const Answer answer =
      one.ask("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n" + body);
  EXPECT_EQ(answer.body, "PUT / " + body);
}

TEST_F(HttpServerTlsTest, SendsContinueToThoseWhoWaitForIt) {
  const auto server = serve_tls(echo);
  LoopbackClient one = client(*server);
  one.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(one.answer().status, 100);
  EXPECT_EQ(one.ask("ok").body, "PUT / ok");
}

// A refused client is still sending; the answer must reach it all the same.
TEST_F(HttpServerTlsTest, RefusesInTheMiddleOfABodyAndEndsProperly) {
  const auto server = serve_tls(echo);
  LoopbackClient one = client(*server);
  one.send("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n" +
           std::string(100'000, 'b'));
  EXPECT_EQ(one.answer().status, 413);
  EXPECT_TRUE(one.closed());
  EXPECT_NE(SSL_get_shutdown(one.session()) & SSL_RECEIVED_SHUTDOWN, 0) << "TLS's own end came too";
}

TEST_F(HttpServerTlsTest, AnswersAHeadThatComesTooSlowly) {
  HttpServerLimits limits;
  limits.head_timeout = Millis{50};
  const auto server = serve_tls(echo, limits);
  LoopbackClient one = client(*server);
  one.send("GET / HTTP/1.1\r\n");
  EXPECT_EQ(one.answer().status, 408);
  EXPECT_TRUE(one.closed());
}

TEST_F(HttpServerTlsTest, ClosesOnAHandshakeThatTakesTooLong) {
  HttpServerLimits limits;
  limits.handshake_timeout = Millis{50};
  const auto server = serve_tls(echo, limits);
  LoopbackClient silent(server->port());
  EXPECT_TRUE(silent.closed());
  LoopbackClient half(server->port());
  half.send("\x16\x03\x01");  // the beginning of a ClientHello
  EXPECT_TRUE(half.closed());
}

// Somebody who forgot the s of https.
TEST_F(HttpServerTlsTest, DoesNotServePlainHttp) {
  const auto server = serve_tls(echo);
  LoopbackClient plain(server->port());
  plain.send(get("/"));
  EXPECT_EQ(plain.rest().find("HTTP/1.1"), std::string::npos);
}

TEST_F(HttpServerTlsTest, TellsThoseBeyondTheLimitOverTlsToo) {
  HttpServerLimits limits;
  limits.connections_max = 1;
  const auto server = serve_tls(echo, limits);
  LoopbackClient first = client(*server);
  EXPECT_EQ(first.ask(get("/")).status, 200);
  LoopbackClient second = client(*server);
  EXPECT_EQ(second.answer().status, 503);
  EXPECT_TRUE(second.closed());
}

TEST_F(HttpServerTlsTest, FinishesWhatIsUnderWayWhenItDrains) {
  HeldRequests held;
  const auto server = serve_tls(held.handler());
  LoopbackClient idle = client(*server);
  LoopbackClient busy = client(*server);
  busy.send(get("/busy"));
  auto request = held.take();
  std::thread draining([&] { server->drain(LoopbackClient::kPatience); });
  EXPECT_TRUE(idle.closed());
  request.respond({200, {}, "done"});
  const Answer answer = busy.answer();
  EXPECT_EQ(answer.body, "done");
  EXPECT_TRUE(answer.has("Connection: close"));
  EXPECT_TRUE(busy.closed());
  busy.close();
  draining.join();
  EXPECT_EQ(server->open_connections(), 0U);
}

TEST_F(HttpServerTlsTest, EndsWithConnectionsInAllStates) {
  HeldRequests held;
  auto server = serve_tls(held.handler());
  LoopbackClient shaking_hands(server->port());
  LoopbackClient idle = client(*server);
  LoopbackClient busy = client(*server);
  busy.send(get("/"));
  const auto request = held.take();
  server.reset();
  EXPECT_TRUE(shaking_hands.closed());
  EXPECT_TRUE(idle.closed());
  request.respond({200, {}, "late"});
}

TEST_F(HttpServerTlsTest, SpeaksNothingOlderThanTls12AndNoWeakCiphers) {
  const auto server = serve_tls(echo);
  const ClientTls old = client_tls();
  SSL_CTX_set_security_level(old.get(), 0);
  SSL_CTX_set_min_proto_version(old.get(), TLS1_VERSION);
  SSL_CTX_set_max_proto_version(old.get(), TLS1_1_VERSION);
  EXPECT_FALSE(LoopbackClient(server->port()).secure(old.get()));
  for (const char* weak : {"AES128-SHA", "ECDHE-ECDSA-AES128-SHA256", "AES256-GCM-SHA384"}) {
    const ClientTls context = client_tls();
    SSL_CTX_set_max_proto_version(context.get(), TLS1_2_VERSION);
    ASSERT_EQ(SSL_CTX_set_cipher_list(context.get(), weak), 1);
    EXPECT_FALSE(LoopbackClient(server->port()).secure(context.get())) << weak;
  }
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const ClientTls context = client_tls();
    SSL_CTX_set_min_proto_version(context.get(), version);
    SSL_CTX_set_max_proto_version(context.get(), version);
    EXPECT_TRUE(LoopbackClient(server->port()).secure(context.get())) << version;
  }
}

TEST_F(HttpServerTlsTest, MayDemandACertificateOfItsClients) {
  HttpServer::Options options;
  options.handler = echo;
  options.tls = tls(/*for_clients_with_certificates=*/true);
  const auto server = serve(std::move(options));
  const Identity known = make_identity({}, &authority_);
  const Identity other_authority = make_identity({.authority = true});
  const Identity stranger = make_identity({}, &other_authority);
  const Identity expired =
      make_identity({.valid_from_seconds = -7200, .valid_until_seconds = -3600}, &authority_);
  const auto status_for = [&](const Identity* shown) {
    LoopbackClient one(server->port());
    one.secure(client_tls(shown).get());
    return one.ask(get("/")).status;
  };
  EXPECT_EQ(status_for(&known), 200);
  EXPECT_EQ(status_for(nullptr), 0);
  EXPECT_EQ(status_for(&stranger), 0);
  EXPECT_EQ(status_for(&expired), 0);
}

TEST_F(HttpServerTlsTest, ShowsARenewedCertificateToThoseWhoComeAfterIt) {
  HttpServer::Options options;
  const auto server_tls = tls();
  options.handler = echo;
  options.tls = server_tls;
  const auto server = serve(std::move(options));
  EXPECT_FALSE(*server_tls->renew_if_changed());
  LoopbackClient before = client(*server);

  const Identity renewed = make_identity({}, &authority_);
  certificate_file_.replace(renewed);
  auto half = server_tls->renew_if_changed();
  ASSERT_FALSE(half) << "the key is still the old one's";
  EXPECT_EQ(half.error().message, "'" + key_file_.path() + "' is not the key of the certificate.");
  EXPECT_FALSE(*server_tls->renew_if_changed()) << "said once";
  EXPECT_EQ(client(*server).ask(get("/")).status, 200) << "with the old pair";

  key_file_.replace(renewed.key.get());
  EXPECT_TRUE(*server_tls->renew_if_changed());
  LoopbackClient after = client(*server);
  EXPECT_EQ(X509_cmp(SSL_get0_peer_certificate(after.session()), renewed.certificate.get()), 0);
  EXPECT_EQ(before.ask(get("/")).status, 200) << "goes on as it was";
  EXPECT_EQ(X509_cmp(SSL_get0_peer_certificate(before.session()), identity_.certificate.get()), 0);
}

TEST_F(HttpServerTlsTest, SaysWhichFileCannotBeUsed) {
  const auto fault = [](const TlsServerFiles& files) {
    const auto made = TlsServer::make(files);
    return made ? "none" : made.error().message;
  };
  const std::string certificate = certificate_file_.path();
  const std::string key = key_file_.path();
  const CertificateFile other_key(make_identity({}).key.get());
  EXPECT_EQ(fault({"/nowhere", key, ""}), "'/nowhere' cannot be read: No such file or directory.");
  EXPECT_EQ(fault({key, key, ""}), "'" + key + "' holds no certificate in PEM form.");
  EXPECT_EQ(fault({certificate, certificate, ""}),
            "'" + certificate + "' holds no private key in PEM form without a password.");
  EXPECT_EQ(fault({certificate, other_key.path(), ""}),
            "'" + other_key.path() + "' is not the key of the certificate.");
  EXPECT_EQ(fault({certificate, key, "/nowhere"}),
            "'/nowhere' cannot be read: No such file or directory.");
}

}  // namespace
}  // namespace belfry
