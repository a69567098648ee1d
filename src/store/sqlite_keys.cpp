// SPDX-License-Identifier: MIT

#include "store/sqlite_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/key_file.h"
#include "store/sqlite_reseal.h"

namespace belfry {

std::vector<std::string> keys_in_use(Connection& db) {
  std::vector<std::string> out;
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
  // Where there are others, that this one seals must be known before it does (sqlite_reseal.h).
  if (keys.size() > 1) remember_key(db, keys.front().id());
  if (const auto done = db.take_status(); !done) return done.error();
  return Sealer(keys);
}

}  // namespace belfry
