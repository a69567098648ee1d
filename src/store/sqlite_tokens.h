// SPDX-License-Identifier: MIT
//
// Access tokens in SQLite; see token_store.h for what each does.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/token.h"
#include "store/sealer.h"
#include "store/sqlite.h"

namespace belfry {

// The tokens after that one, as they stand there.
struct StoredToken {
  Token token;
  std::optional<std::string> mac;
};
std::vector<StoredToken> stored_tokens(Connection& db, const std::string& after, std::size_t limit);
void replace_token_mac(Connection& db, const std::string& id, const std::string& mac);

// A row that was not written by Belfry fails the connection.
Status insert_token(Connection& db, const Sealer& sealer, const Token& token);
bool mark_token_revoked(Connection& db, const Sealer& sealer, const std::string& id, Instant at);
std::optional<Token> find_token(Connection& db, const Sealer& sealer, const std::string& id);
std::vector<Token> list_tokens(Connection& db, const Sealer& sealer, const std::string& after,
                               std::size_t limit);

}  // namespace belfry
