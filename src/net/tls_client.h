// SPDX-License-Identifier: MIT
//
// TlsClient is whom we trust and who we are when we call over TLS: the system's certificate
// authorities and perhaps a bundle of the operator's. Verification cannot be turned off.
// Made once, then read by any thread.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "net/http_client_call.h"

struct ssl_ctx_st;
struct ssl_st;

namespace belfry {

class Pfx;

class TlsClient {
 public:
  struct Options {
    std::string extra_ca_file;  // PEM; trusted besides the system's; empty for none
  };

  static Result<std::shared_ptr<const TlsClient>> make(const Options& options);

  // Trusts the same authorities, and shows this certificate to servers that ask for one.
  Result<std::shared_ptr<const TlsClient>> as(const Pfx& identity) const;

  // A session that will speak to `host` alone: its name (or address) must be in the
  // certificate. The caller owns it. None when memory is short or the name cannot be one.
  ssl_st* new_session(const std::string& host) const;

 private:
  struct Free {
    void operator()(ssl_ctx_st* context) const;
  };
  explicit TlsClient(ssl_ctx_st* context) : context_(context) {}

  std::unique_ptr<ssl_ctx_st, Free> context_;
};

// Of a session whose handshake succeeded: "TLSv1.3", and the other side's certificate.
std::string tls_version(const ssl_st* session);
std::optional<CertificateFacts> target_certificate(const ssl_st* session);

// Why the handshake of this session failed. `error` is what the transport says of it.
HttpFailure tls_failure(const ssl_st* session, const std::string& host, const std::string& error);

}  // namespace belfry
