// SPDX-License-Identifier: MIT
//
// Do the keys of the key file fit the database? Its table `sealing` names those that may have
// sealed something in it (store/sqlite_reseal.h); each of them has to be in the file. That table
// and whether every row has its MAC are the store's own facts, and have a MAC as well.

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/row_macs.h"
#include "store/sealer.h"
#include "store/sqlite.h"

namespace belfry {

// Reads the key file; makes it, with a key, only while nothing was ever sealed.
Result<Sealer> open_sealer(const std::filesystem::path& path, Connection& db);

// The ids of the keys that may have sealed something; of an empty database, none.
std::vector<std::string> keys_in_use(Connection& db);

// Whether these keys open all that is sealed.
Status check_fit(const std::filesystem::path& path, const std::vector<SealingKey>& keys,
                 const std::vector<std::string>& used);
Error missing_key_file(const std::filesystem::path& path, const std::string& used);

// The store's own facts. Failing its check fails the connection.
StoreSeal read_seal(Connection& db, const Sealer& sealer);
void write_seal(Connection& db, const Sealer& sealer, const StoreSeal& seal);

// That this key may seal from now on; to be committed before it does.
void remember_key(Connection& db, const Sealer& sealer, const std::string& key_id);

}  // namespace belfry
