// SPDX-License-Identifier: MIT
//
// Somebody must be able to give access. A server that needs tokens and has no usable one of an
// owner of everything mints one when it starts: there is no default password, and no way to be
// locked out for good. Whoever can start the server on its store could read it anyway.

#pragma once

#include <optional>
#include <string>

#include "base/instant.h"
#include "base/result.h"
#include "model/secret.h"
#include "model/token.h"
#include "store/token_store.h"

namespace belfry {

// None where there is a usable one already.
Result<std::optional<Secret>> mint_first_token(TokenStore& store, Instant now);

// The token, or that it stands in a file; neither where there is a usable one already.
struct FirstToken {
  std::optional<Secret> token;
  bool in_file = false;
};

// With a file, the token is put there, for its owner alone: standard output may end up in a log.
// The file is made before the token is, so that none is minted that nobody gets to see.
Result<FirstToken> hand_out_first_token(TokenStore& store, Instant now, const std::string& file);

// Makes a token with the store's directory in hand, without a server that could be asked.
Result<Secret> add_local_token(TokenStore& store, Token wanted, Instant now,
                               const std::string& why);

}  // namespace belfry
