// SPDX-License-Identifier: MIT
//
// Seals anew, with the newest key, what older keys sealed: a slice at a time, inside the
// transactions of the sweep. The table `sealing` names the keys that may have sealed something
// in the database. An old key leaves it in the transaction that finds nothing more of it, and
// only then may it leave the key file; so at every moment, and after every crash, the file holds
// all that is needed.

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
  // Looks at up to `limit` jobs. How many it looked at; 0: there is nothing to do. Secrets that
  // do not open are left as they are, and their key stays in use.
  std::size_t step(Connection& db, const Sealer& sealer, std::size_t limit);

 private:
  std::string key_id_;                                             // of the key that it seals with
  std::int64_t after_ = std::numeric_limits<std::int64_t>::min();  // the last job it looked at
  bool all_opened_ = true;
  bool finished_ = false;
};

// That the newest key may seal from now on; to be committed before it does.
void remember_key(Connection& db, const std::string& key_id);

}  // namespace belfry
