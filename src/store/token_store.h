// SPDX-License-Identifier: MIT
//
// TokenStore keeps access tokens: never their secrets, only what recognises them. Each change
// is durable when it is answered, together with the row of the audit log that tells of it.
//
// Any thread may call. Nothing is cached: a token that was revoked is so for the next request.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/instant.h"
#include "base/result.h"
#include "model/audit.h"
#include "model/token.h"

namespace belfry {

// So long after a token ended it is forgotten; the audit log still knows of it.
inline constexpr Ticks kEndedTokensKept = std::chrono::days{90};

// What add_token() refuses.
Error too_many_tokens();
Error token_exists(const std::string& id);

class TokenStore {
 public:
  virtual ~TokenStore() = default;

  // Refused with `conflict` where there are kTokensMax already, or one of that id.
  virtual Status add_token(const Token& token, const AuditEntry& entry) = 0;

  // False where there is none of that id, or it is revoked already: then nothing is written.
  virtual Result<bool> revoke_token(const std::string& id, const AuditEntry& entry) = 0;

  virtual Result<std::optional<Token>> token(const std::string& id) = 0;

  // In the order of their ids, which is none; those after `after`.
  virtual Result<std::vector<Token>> tokens(const std::string& after, std::size_t limit) = 0;
};

}  // namespace belfry
