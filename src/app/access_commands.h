// SPDX-License-Identifier: MIT
//
// `belfry token …` and `belfry audit …`. Tokens are made and revoked by asking the server, so
// that a revocation holds from the next request on.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/remote.h"

namespace belfry {

struct TokenCreate {
  std::string name;
  std::vector<std::string> roles;   // each belongs to the scope at the same place,
  std::vector<std::string> scopes;  // or there is one scope for all of them
  std::string expires;
  std::string store;  // a directory instead of a server
  std::string key_file;
};

struct AuditList {
  std::string scope;
  std::size_t count = 50;
  bool json = false;
};

struct AuditVerify {
  std::string store;
  std::string expect;  // NUMBER:HASH, as an earlier run printed it
};

// Each prints what it has to say and gives the exit code.
int create_token(const Remote& remote, const TokenCreate& wanted);
int list_tokens(const Remote& remote, bool json);
int revoke_token(const Remote& remote, const std::string& id);
int list_audit(const Remote& remote, const AuditList& wanted);
int verify_audit(const AuditVerify& wanted);

}  // namespace belfry
