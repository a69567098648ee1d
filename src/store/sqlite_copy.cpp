// SPDX-License-Identifier: MIT

#include "store/sqlite_copy.h"

#include <unistd.h>

#include "store/durable_file.h"

namespace belfry {

Status copy_database(Connection& db, const std::filesystem::path& target) {
  const std::filesystem::path unfinished = target.native() + ".unfinished";
  ::unlink(unfinished.c_str());
  // SQLite fills an empty file as it is, with its permissions.
  if (const auto made = make_private_file(unfinished); !made) return made.error();
  db.run("VACUUM INTO ?1", unfinished.native());
  if (db.failed()) {
    ::unlink(unfinished.c_str());
    return db.take_failure().error;
  }
  if (const auto done = sync_file(unfinished); !done) return done.error();
  return publish(unfinished, target);
}

}  // namespace belfry
