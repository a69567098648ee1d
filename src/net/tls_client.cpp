// SPDX-License-Identifier: MIT

#include "net/tls_client.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "net/egress_guard.h"
#include "net/pem_file.h"
#include "net/pfx.h"

namespace belfry {
namespace {

Error tls_error(const std::string& message) {
  ERR_clear_error();
  return {ErrorCode::invalid, message, {}};
}

// Verification is on from the start.
SSL_CTX* new_context() {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  if (context == nullptr) return nullptr;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  return context;
}

bool expect_host(SSL* session, const std::string& host) {
  X509_VERIFY_PARAM* wanted = SSL_get0_param(session);
  X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  // An address has no server name to ask for, and is looked up among the certificate's
  // addresses.
  if (IpAddress::parse(host)) return X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1;
  return SSL_set_tlsext_host_name(session, host.c_str()) == 1 &&
         X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size()) == 1;
}

std::string trust_detail(long verdict, const std::string& host) {
  switch (verdict) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the certificate is not valid yet";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return fmt::format("the certificate is not for '{}'", host);
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "the certificate is self-signed";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "the certificate was issued by an authority that is not trusted here";
    default:
      return X509_verify_cert_error_string(verdict);
  }
}

}  // namespace

void TlsClient::Free::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}
void TlsClient::Free::operator()(x509_store_st* authorities) const {
  X509_STORE_free(authorities);
}

Result<std::shared_ptr<const TlsClient>> TlsClient::make(const Options& options) {
  SSL_CTX* context = new_context();
  if (context == nullptr) return tls_error("OpenSSL cannot be set up.");
  const std::shared_ptr<const TlsClient> made(new TlsClient(context));
  if (SSL_CTX_set_default_verify_paths(context) != 1) {
    return tls_error("The system's certificate authorities cannot be read.");
  }
  if (options.extra_ca_file.empty()) return made;
  if (SSL_CTX_load_verify_file(context, options.extra_ca_file.c_str()) == 1) return made;
  return tls_error(pem_file_fault(options.extra_ca_file, "holds no certificates in PEM form"));
}

Result<std::shared_ptr<const TlsClient>> TlsClient::as(const std::string& pfx) const {
  if (is_refused_pfx(pfx)) {
    std::string why = Pfx::read(pfx).error().message;
    if (why.ends_with('.')) why.pop_back();
    return tls_error("The client certificate (pfx) " + why);
  }
  X509_STORE* authorities = SSL_CTX_get_cert_store(context());
  X509_STORE_up_ref(authorities);
  return std::shared_ptr<const TlsClient>(new TlsClient(authorities, pfx));
}

ssl_ctx_st* TlsClient::context() const {
  if (authorities_) std::call_once(read_, [this] { read_pfx(); });
  return context_.get();
}

void TlsClient::read_pfx() const {
  const auto pfx = Pfx::read(pfx_);
  Context context(new_context());
  if (!pfx || !context || !pfx->give_to(context.get())) return;
  SSL_CTX_set1_cert_store(context.get(), authorities_.get());
  context_ = std::move(context);
}

bool TlsClient::signs_slowly() const {
  return belfry::signs_slowly(pfx_);
}

ssl_st* TlsClient::new_session(const std::string& host) const {
  if (!usable()) return nullptr;
  SSL* session = SSL_new(context());
  if (session == nullptr) return nullptr;
  if (expect_host(session, host)) return session;
  SSL_free(session);
  ERR_clear_error();
  return nullptr;
}

std::string tls_version(const ssl_st* session) {
  return SSL_get_version(session);
}

std::optional<CertificateFacts> target_certificate(const ssl_st* session) {
  const X509* certificate = SSL_get0_peer_certificate(session);
  if (certificate == nullptr) return std::nullopt;
  return facts_of(certificate);
}

HttpFailure tls_failure(const ssl_st* session, const std::string& host, const std::string& error) {
  const long verdict = SSL_get_verify_result(session);
  if (verdict == X509_V_OK) return {HttpFailureKind::tls_handshake, error};
  return {HttpFailureKind::tls_trust, trust_detail(verdict, host)};
}

}  // namespace belfry
