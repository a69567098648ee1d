// SPDX-License-Identifier: MIT
//
// TlsServer is who we are to those who call us over TLS: a certificate and its key, in PEM, and
// perhaps the authority that clients must have a certificate of. TLS 1.2 with forward secrecy
// and authenticated encryption, or 1.3.
//
// The files may be replaced while the server runs. renew_if_changed() takes the new ones for
// connections to come, or, when they are not a pair that can be used, keeps the old ones and
// says why. Any thread may call.

#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"

struct ssl_ctx_st;
struct ssl_st;

namespace belfry {

struct TlsServerFiles {
  std::string certificate;  // the chain, our own first
  std::string key;
  std::string client_ca;  // empty: clients need no certificate
};

class TlsServer {
 public:
  static Result<std::shared_ptr<TlsServer>> make(TlsServerFiles files);

  // For one connection; the caller owns it. None when memory is short.
  ssl_st* new_session() const;

  // Whether the files were replaced and are in use now. The same fault is told once.
  Result<bool> renew_if_changed();

 private:
  explicit TlsServer(TlsServerFiles files) : files_(std::move(files)) {}
  Status renew();

  const TlsServerFiles files_;
  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<ssl_ctx_st> context_;
  std::string state_;  // of the files when they were last read
};

}  // namespace belfry
