// SPDX-License-Identifier: MIT
//
// Takes the secrets that jobs have now out of what their targets repeated of them: versions before
// schema 8 wrote down what came. It is done once, a slice at a time, inside the transactions of the
// sweep. The table `echoes_unseen` says how far it has come, and has no row when it is done.

#pragma once

#include <cstddef>
#include <optional>

#include "store/sealer.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace belfry {

// How far it has come. A copy is to be kept, and put back when the transaction fails.
class EchoMasking {
 public:
  // Looks at up to `limit` jobs and rows of their history. How many it looked at; 0: there is
  // nothing to do. A job that cannot be read is passed over: so can nobody read its secrets.
  std::size_t step(Connection& db, const Sealer& sealer, std::size_t limit);

 private:
  std::size_t look_at(Connection& db, const Sealer& sealer, JobId job, std::size_t limit);

  // The last row that was looked at of a job that has more.
  struct Begun {
    JobId job{};
    HistoryPlace last;
  };

  bool finished_ = false;
  std::optional<Begun> begun_;
};

// How many jobs have not been looked at yet.
std::int64_t jobs_with_echoes_unseen(Connection& db);

}  // namespace belfry
