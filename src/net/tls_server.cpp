// SPDX-License-Identifier: MIT

#include "net/tls_server.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <utility>

#include "net/pem_file.h"

namespace belfry {
namespace {

// For TLS 1.2; those of 1.3 are all good.
constexpr const char* kCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr unsigned char kSessionContext[] = "belfry";

using Context = std::shared_ptr<SSL_CTX>;

Error unusable(const std::string& path, std::string_view what) {
  ERR_clear_error();
  return {ErrorCode::invalid, pem_file_fault(path, what), {}};
}

Context new_context() {
  Context context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  if (!context) return nullptr;
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context.get(), kCiphers);
  SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS);  // idle connections keep none
  SSL_CTX_set_options(context.get(), SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_NO_RENEGOTIATION);
  // Without it a client that shows a certificate cannot resume its session.
  SSL_CTX_set_session_id_context(context.get(), kSessionContext, sizeof kSessionContext - 1);
  // A key that asks for a password is not waited for.
  SSL_CTX_set_default_passwd_cb(context.get(), [](char*, int, int, void*) { return 0; });
  return context;
}

Status demand_client_certificates(SSL_CTX* context, const std::string& authority) {
  STACK_OF(X509_NAME)* names = SSL_load_client_CA_file(authority.c_str());
  if (names == nullptr || SSL_CTX_load_verify_file(context, authority.c_str()) != 1) {
    sk_X509_NAME_pop_free(names, X509_NAME_free);
    return unusable(authority, "holds no certificates in PEM form");
  }
  SSL_CTX_set_client_CA_list(context, names);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  return Done{};
}

Result<Context> read_files(const TlsServerFiles& files) {
  Context context = new_context();
  if (!context) return Error{ErrorCode::invalid, "OpenSSL cannot be set up.", {}};
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate.c_str()) != 1) {
    return unusable(files.certificate, "holds no certificate in PEM form");
  }
  // OpenSSL compares it with the certificate on the way; it is asked again to be told apart.
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    const bool mismatch = ERR_GET_REASON(ERR_peek_last_error()) == X509_R_KEY_VALUES_MISMATCH;
    return unusable(files.key, mismatch ? "is not the key of the certificate"
                                        : "holds no private key in PEM form without a password");
  }
  if (SSL_CTX_check_private_key(context.get()) != 1) {
    return unusable(files.key, "is not the key of the certificate");
  }
  if (!files.client_ca.empty()) {
    if (auto done = demand_client_certificates(context.get(), files.client_ca); !done) {
      return done.error();
    }
  }
  return context;
}

// Changes when a file is written, replaced or linked to another.
std::string state_of(const std::string& path) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return "-";
  return fmt::format("{}:{}:{}.{}:{}", status.st_dev, status.st_ino, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec, status.st_size);
}

std::string state_of(const TlsServerFiles& files) {
  return state_of(files.certificate) + ' ' + state_of(files.key) + ' ' + state_of(files.client_ca);
}

}  // namespace

Result<std::shared_ptr<TlsServer>> TlsServer::make(TlsServerFiles files) {
  std::shared_ptr<TlsServer> made(new TlsServer(std::move(files)));
  if (auto read = made->renew(); !read) return read.error();
  return made;
}

// Looked at before they are read: what changes while we read is seen the next time.
Status TlsServer::renew() {
  std::string state = state_of(files_);
  auto context = read_files(files_);
  const std::lock_guard lock(mutex_);
  state_ = std::move(state);
  if (!context) return context.error();
  context_ = *std::move(context);
  return Done{};
}

Result<bool> TlsServer::renew_if_changed() {
  {
    const std::string state = state_of(files_);
    const std::lock_guard lock(mutex_);
    if (state == state_) return false;
  }
  if (auto read = renew(); !read) return read.error();
  return true;
}

ssl_st* TlsServer::new_session() const {
  const std::lock_guard lock(mutex_);
  return SSL_new(context_.get());
}

}  // namespace belfry
