// SPDX-License-Identifier: MIT
//
// Files that an operator replaces while the server runs: the certificate and the keys that seal
// secrets. What cannot be used is said once, and the old one stays.

#pragma once

#include <string>

#include "net/tls_server.h"
#include "store/sqlite_store.h"

namespace belfry {

void renew_certificate(TlsServer& tls);

class KeyRenewal {
 public:
  explicit KeyRenewal(SqliteStore& store) : store_(store) {}

  void look();

 private:
  SqliteStore& store_;
  std::string said_;
};

}  // namespace belfry
