// SPDX-License-Identifier: MIT
//
// Seals anew, with the newest key, what older keys or an older version sealed, and gives every row
// the MAC of the newest key: a slice at a time, inside the transactions of the sweep. The table
// `sealing` names the keys that may have sealed something in the database. An old key leaves it in
// the transaction that finds nothing more of it, and only then may it leave the key file; so at
// every moment, and after every crash, the file holds all that is needed. In that transaction too
// the store is marked as complete, and from then on a row without a MAC is forged.

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "store/sealer.h"
#include "store/sqlite.h"

namespace belfry {

// How far it has come. A copy is to be kept, and put back when the transaction fails.
class Resealing {
 public:
  // Looks at up to `limit` rows. How many it looked at; 0: there is nothing to do. What does not
  // open, or was not written by Belfry, is left as it is, and its key stays in use.
  std::size_t step(Connection& db, const Sealer& sealer, std::size_t limit);
  // Every row has its MAC, once what the last step wrote is committed.
  bool finished() const { return finished_; }

 private:
  std::size_t step_jobs(Connection& db, const Sealer& sealer, std::size_t limit);
  std::size_t step_collections(Connection& db, const Sealer& sealer, std::size_t limit);
  std::size_t step_tokens(Connection& db, const Sealer& sealer, std::size_t limit);

  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

  std::string key_id_;              // of the key that it seals with
  std::int64_t after_job_ = kNone;  // the last ones that it looked at
  std::int64_t after_collection_ = kNone;
  std::string after_token_;
  bool all_sound_ = true;
  bool finished_ = false;
};

}  // namespace belfry
