// SPDX-License-Identifier: MIT
//
// The tables of the SQLite store, and how a database of an older version becomes one of this:
// a list of migrations, each of which raises the schema's version by one. What was released is
// never changed; a change is a new entry at the end.
//
//   collection  one row each; `jobs` counts its jobs, so that a quota is checked in one step
//   job         what changes by API writes: the definition, and its secrets sealed, of the main
//               action and of the error action
//   progress    what changes with every run: small, so that a run rewrites little
//   history     in the order it was written, which is nearly the order of time
//   removed     jobs that are gone and whose history is not yet
//   sealing     the ids of the keys that may have sealed something here
//   seal        the MAC of the store's own facts (store/row_macs.h)
//   token       access tokens, by their id; of their secrets only a hash
//   audit       every change and who asked for it, chained; never changed, never removed
//   audit_head  number and hash of the last row of audit
//
// Instants are ticks, enumerations their numbers in model/.

#pragma once

#include <functional>

#include "base/result.h"
#include "store/sqlite.h"

namespace belfry {

// The key of the last migration; the database's PRAGMA user_version.
int schema_version();

// Says no to what is not Belfry's, and to what a newer Belfry wrote. An empty one is well.
Status check_schema(Connection& db);

// Brings the database to schema_version(). `complete` writes what else belongs to it, in the
// transaction of the last step.
Status migrate(Connection& db, const std::function<void(Connection&)>& complete);

// Settings of a connection that last as long as it. The writer's commits are durable when
// they return; it sets up the database where it is new.
Status configure_writer(Connection& db);
Status configure_reader(Connection& db);

}  // namespace belfry
