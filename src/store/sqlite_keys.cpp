// SPDX-License-Identifier: MIT

#include "store/sqlite_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/key_file.h"

namespace belfry {

namespace {

constexpr char kHasKeys[] = "SELECT 1 FROM sqlite_schema WHERE name = 'sealing'";
constexpr char kReadSeal[] = "SELECT complete, mac FROM seal";
constexpr char kWriteSeal[] = "INSERT OR REPLACE INTO seal(one, complete, mac) VALUES (1, ?1, ?2)";
constexpr char kForgetKeys[] = "DELETE FROM sealing";
constexpr char kRememberKey[] = "INSERT INTO sealing(key_id) VALUES (?1)";

}  // namespace

std::vector<std::string> keys_in_use(Connection& db) {
  std::vector<std::string> out;
  if (!db.value(kHasKeys)) return out;
  for (Rows rows = db.query("SELECT key_id FROM sealing"); rows.next();) out.push_back(rows.text());
  return out;
}

Error missing_key_file(const std::filesystem::path& path, const std::string& used) {
  return {ErrorCode::invalid,
          fmt::format("the key file {} is missing, and secrets are sealed with its key {}: "
                      "put it back, or name another with --key-file (BELFRY_KEY_FILE)",
                      path.native(), shown_key_id(used)),
          ""};
}

Status check_fit(const std::filesystem::path& path, const std::vector<SealingKey>& keys,
                 const std::vector<std::string>& used) {
  for (const std::string& id : used) {
    if (std::ranges::find(keys, id, &SealingKey::id) != keys.end()) continue;
    return Error{ErrorCode::invalid,
                 fmt::format("the key file {} holds the key {}, but secrets are sealed with {}: "
                             "put the right one there, or name it with --key-file "
                             "(BELFRY_KEY_FILE)",
                             path.native(), shown_key_id(keys.front().id()), shown_key_id(id)),
                 ""};
  }
  return Done{};
}

Result<Sealer> open_sealer(const std::filesystem::path& path, Connection& db) {
  const auto used = keys_in_use(db);
  if (const auto done = db.take_status(); !done) return done.error();
  TRY_ASSIGN(auto keys, read_key_file(path));
  if (keys.empty() && !used.empty()) return missing_key_file(path, used.front());
  if (keys.empty()) {
    TRY_ASSIGN(const SealingKey made, make_key_file(path));
    keys.push_back(made);
  }
  if (const auto fit = check_fit(path, keys, used); !fit) return fit.error();
  return Sealer(keys);
}

StoreSeal read_seal(Connection& db, const Sealer& sealer) {
  StoreSeal seal;
  seal.key_ids = keys_in_use(db);
  std::optional<std::string> mac;
  {
    Rows rows = db.query(kReadSeal);
    if (rows.next()) {
      seal.complete = rows.integer() != 0;
      mac = rows.text();
    }
  }
  // Without a row it would be a store whose rows need no MAC, which no migration leaves.
  const auto genuine = check_mac(sealer, mac_text(seal), mac.value_or(""),
                                 "what the store says of itself (the table seal)");
  if (!genuine) db.fail(genuine.error());
  return seal;
}

void write_seal(Connection& db, const Sealer& sealer, const StoreSeal& seal) {
  db.run(kForgetKeys);
  for (const std::string& id : seal.key_ids) db.run(kRememberKey, Blob{id});
  const std::string mac = sealer.mac(mac_text(seal));
  db.run(kWriteSeal, std::int64_t{seal.complete}, Blob{mac});
}

void remember_key(Connection& db, const Sealer& sealer, const std::string& key_id) {
  StoreSeal seal = read_seal(db, sealer);
  if (std::ranges::find(seal.key_ids, key_id) != seal.key_ids.end()) return;
  seal.key_ids.push_back(key_id);
  write_seal(db, sealer, seal);
}

}  // namespace belfry
