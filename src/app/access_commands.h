// SPDX-License-Identifier: MIT
//
// `belfry token …` and `belfry audit …`. Tokens are made and revoked by asking the server, so
// that a revocation holds from the next request on.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/cli_command.h"
#include "app/flags.h"

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
  StoreFlags store;
  std::string expect;  // NUMBER:HASH, as an earlier run printed it
};

class AccessCommands : public CliCommand {
 public:
  void add_to(CLI::App& app) override;
  std::optional<int> run() const override;

 private:
  void add_tokens(CLI::App& app);
  void add_audit(CLI::App& app);

  RemoteFlags remote_flags_;
  TokenCreate create_;
  bool json_ = false;
  std::string id_;
  AuditList audit_;
  AuditVerify verify_;
  CLI::App* create_app_ = nullptr;
  CLI::App* list_app_ = nullptr;
  CLI::App* revoke_app_ = nullptr;
  CLI::App* audit_app_ = nullptr;
  CLI::App* verify_app_ = nullptr;
};

}  // namespace belfry
