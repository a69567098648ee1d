// SPDX-License-Identifier: MIT

#include "store/sqlite_genuine.h"

#include <fmt/format.h>

#include "store/row_macs.h"
#include "store/sqlite_keys.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_tokens.h"

namespace belfry {
namespace {

const std::string kEveryCollection =
    std::string(kSelectCollection) + ", c.folded FROM collection AS c";
constexpr char kWithoutMac[] = R"(
SELECT (SELECT count(*) FROM job WHERE mac IS NULL) +
       (SELECT count(*) FROM collection WHERE mac IS NULL) +
       (SELECT count(*) FROM token WHERE mac IS NULL)
FROM seal WHERE NOT complete)";

using Found = std::function<void(std::string)>;

void tell_failure(Connection& db, const Found& found) {
  if (db.failed()) found(db.take_failure().error.message);
}

void find_forged_collections(Connection& db, const Sealer& sealer, const Found& found) {
  for (Rows rows = db.query(kEveryCollection.c_str()); rows.next();) {
    const auto stored = read_stored_collection(rows);
    const auto genuine = check_mac(sealer, stored.collection, stored.mac);
    if (!genuine) found(genuine.error().message);
    if (rows.text() == folded(stored.collection.key)) continue;
    found(
        fmt::format("the job collection {} stands under a wrong name: somebody else has changed "
                    "the store",
                    stored.collection.key.name));
  }
}

void find_forged_tokens(Connection& db, const Sealer& sealer, const Found& found) {
  for (const StoredToken& stored : stored_tokens(db, "", kTokensMax)) {
    const auto genuine = check_mac(sealer, stored.token, stored.mac);
    if (!genuine) found(genuine.error().message);
  }
}

}  // namespace

void find_forged(Connection& db, Sealer& sealer, const Found& found) {
  const StoreSeal seal = read_seal(db, sealer);
  const bool known = !db.failed();
  tell_failure(db, found);
  if (known && seal.complete) sealer.demand_macs();
  find_forged_collections(db, sealer, found);
  tell_failure(db, found);
  find_forged_tokens(db, sealer, found);
  tell_failure(db, found);
}

Status expect_genuine(Connection& db, Sealer& sealer) {
  std::string first;
  find_forged(db, sealer, [&first](std::string sentence) {
    if (first.empty()) first = std::move(sentence);
  });
  if (first.empty()) return Done{};
  return Error{ErrorCode::invalid,
               first +
                   ". `belfry check` names all such rows; put a backup in its place "
                   "(belfry restore)",
               ""};
}

std::int64_t rows_without_mac(Connection& db) {
  return db.value(kWithoutMac).value_or(0);
}

}  // namespace belfry
