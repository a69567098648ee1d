// SPDX-License-Identifier: MIT
//
// What the MAC of a row is over: what the row means, never how a store keeps it, so that it can be
// copied from one store to another as it is. What is not here may be changed by whoever can write
// the store's files: how far a job has come, and its history.
//
// An old row of the same thing that is put back is not found: its MAC was genuine once.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/collection.h"
#include "model/token.h"
#include "store/sealer.h"

namespace belfry {

// Of the store itself: which keys may have sealed something in it, and whether every row has its
// MAC, which is so but for the first minutes after an upgrade from version 0.1.
struct StoreSeal {
  std::vector<std::string> key_ids;
  bool complete = false;
};

// A definition as a store keeps it.
struct StoredDefinition {
  std::string_view document;
  std::optional<std::string_view> main_secrets{};
  std::optional<std::string_view> error_secrets{};
  std::optional<std::string_view> mac{};
};

std::string mac_text(const Token& token);
std::string mac_text(const JobCollection& collection);
std::string mac_text(const StoreSeal& seal);
std::string mac_text(JobId job, const JobKey& key, const StoredDefinition& definition);

// Well, or what is wrong with the row that is called so. Of one without a MAC nothing is, until
// all must have theirs.
Status check_mac(const Sealer& sealer, std::string_view text, std::optional<std::string_view> mac,
                 std::string_view row);
Status check_mac(const Sealer& sealer, const Token& token, std::optional<std::string_view> mac);
Status check_mac(const Sealer& sealer, const JobCollection& collection,
                 std::optional<std::string_view> mac);

}  // namespace belfry
