// SPDX-License-Identifier: MIT
//
// Access tokens in SQLite; see token_store.h for what each does.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/token.h"
#include "store/sqlite.h"

namespace belfry {

Status insert_token(Connection& db, const Token& token);
bool mark_token_revoked(Connection& db, const std::string& id, Instant at);
std::optional<Token> find_token(Connection& db, const std::string& id);
std::vector<Token> list_tokens(Connection& db, const std::string& after, std::size_t limit);

}  // namespace belfry
