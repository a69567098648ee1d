// SPDX-License-Identifier: MIT
//
// TlsClient is whom we trust and who we are when we call over TLS: the system's certificate
// authorities and perhaps a bundle of the operator's. Verification cannot be turned off.
// Used by any thread.

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/http_client_call.h"

struct ssl_ctx_st;
struct ssl_st;
struct x509_store_st;

namespace belfry {

class TlsClient {
 public:
  struct Options {
    std::string extra_ca_file;  // PEM; trusted besides the system's; empty for none
  };

  static Result<std::shared_ptr<const TlsClient>> make(const Options& options);

  // Trusts the same authorities, and shows this certificate (as Pfx::kept() has it) to servers that
  // ask for one. It is read when it is first needed: whoever asks for it, the engine, has better
  // things to do. The error of a refusal is a sentence without its full stop.
  Result<std::shared_ptr<const TlsClient>> as(const std::string& pfx) const;

  // Whether the certificate is one that TLS can use; so that this is known before it is needed.
  bool usable() const { return context() != nullptr; }

  // A signature keeps the processor busy for milliseconds.
  bool signs_slowly() const;

  // A session that will speak to `host` alone: its name (or address) must be in the
  // certificate. The caller owns it. None when memory is short, the name cannot be one, or it is
  // not usable().
  ssl_st* new_session(const std::string& host) const;

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
    void operator()(x509_store_st* authorities) const;
  };
  using Context = std::unique_ptr<ssl_ctx_st, Free>;

  explicit TlsClient(ssl_ctx_st* context) : context_(context) {}
  TlsClient(x509_store_st* authorities, std::string pfx)
      : authorities_(authorities), pfx_(std::move(pfx)) {}

  ssl_ctx_st* context() const;
  void read_pfx() const;

  // Until there is a context: to be made, once, of these.
  const std::unique_ptr<x509_store_st, Free> authorities_;
  const std::string pfx_;
  mutable std::once_flag read_;
  mutable Context context_;
};

// Of a session whose handshake succeeded: "TLSv1.3", and the other side's certificate.
std::string tls_version(const ssl_st* session);
std::optional<CertificateFacts> target_certificate(const ssl_st* session);

// Why the handshake of this session failed. `error` is what the transport says of it.
HttpFailure tls_failure(const ssl_st* session, const std::string& host, const std::string& error);

}  // namespace belfry
