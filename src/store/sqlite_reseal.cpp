// SPDX-License-Identifier: MIT

#include "store/sqlite_reseal.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/failpoint.h"
#include "store/sealed_definition.h"
#include "store/sqlite_keys.h"
#include "store/sqlite_rows.h"
#include "store/sqlite_tokens.h"

namespace belfry {
namespace {

constexpr char kOtherKey[] = "SELECT 1 FROM sealing WHERE key_id <> ?1 LIMIT 1";
constexpr char kJobsAfter[] = R"(
SELECT c.subscription, c.resource_group, c.name, j.id, j.name,
       j.definition, j.secrets, j.error_secrets, j.mac
FROM job AS j CROSS JOIN collection AS c ON c.id = j.collection
WHERE j.id > ?1 ORDER BY j.id LIMIT ?2)";
constexpr char kReplaceDefinition[] = R"(
UPDATE job SET definition = ?2, secrets = ?3, error_secrets = ?4, mac = ?5 WHERE id = ?1)";
constexpr char kReplaceMac[] = "UPDATE job SET mac = ?2 WHERE id = ?1";
const std::string kCollectionsAfter = std::string(kSelectCollection) + R"(, c.id
FROM collection AS c WHERE c.id > ?1 ORDER BY c.id LIMIT ?2)";
constexpr char kReplaceCollectionMac[] = "UPDATE collection SET mac = ?2 WHERE id = ?1";

// A row of a job, kept while others are read.
struct JobRow {
  Job job;
  SealedDefinition stored;
  bool has_mac = false;

  StoredDefinition view() const {
    StoredDefinition out{stored.document, stored.main_secrets, stored.error_secrets, {}};
    if (has_mac) out.mac = stored.mac;
    return out;
  }
};

std::optional<std::string> copied(const std::optional<std::string_view>& text) {
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::vector<JobRow> jobs_after(Connection& db, std::int64_t job, std::size_t limit) {
  std::vector<JobRow> out;
  for (Rows rows = db.query(kJobsAfter, job, bounded(limit)); rows.next();) {
    JobRow& row = out.emplace_back();
    JobKey key{.collection = read_collection_key(rows), .name = {}};
    row.job.id = JobId{rows.integer()};
    key.name = rows.text();
    row.job.key = std::move(key);
    const StoredDefinition stored = read_definition(rows);
    row.stored = {std::string(stored.document), copied(stored.main_secrets),
                  copied(stored.error_secrets), std::string(stored.mac.value_or(""))};
    row.has_mac = stored.mac.has_value();
  }
  return out;
}

void replace(Connection& db, JobId job, const Result<SealedDefinition>& sealed) {
  if (!sealed) return db.fail(sealed.error());
  db.run(kReplaceDefinition, job, sealed->document, as_blob(sealed->main_secrets),
         as_blob(sealed->error_secrets), Blob{sealed->mac});
}

// False: it is not sound.
bool reseal(Connection& db, const Sealer& sealer, JobRow& row) {
  auto definition = open_definition(sealer, row.job.id, row.job.key, row.view());
  if (definition) {
    row.job.definition = *std::move(definition);
    replace(db, row.job.id, seal_definition(sealer, row.job));
  } else if (!row.has_mac && !sealer.demands_macs()) {
    // Its secrets did not open before either. It must have a MAC, or one without would be accepted
    // for ever.
    const std::string mac = sealer.mac(mac_text(row.job.id, row.job.key, row.view()));
    db.run(kReplaceMac, row.job.id, Blob{mac});
  }
  return definition.has_value();
}

struct CollectionRow {
  StoredCollection stored;
  std::int64_t id = 0;
};

std::vector<CollectionRow> collections_after(Connection& db, std::int64_t id, std::size_t limit) {
  std::vector<CollectionRow> out;
  for (Rows rows = db.query(kCollectionsAfter.c_str(), id, bounded(limit)); rows.next();) {
    CollectionRow& row = out.emplace_back();
    row.stored = read_stored_collection(rows);
    row.id = rows.integer();
  }
  return out;
}

// The MAC that a row is to have; none where it has it, or where it is not sound.
struct NewMac {
  std::optional<std::string> mac{};
  bool sound = true;
};

template <typename Thing>
NewMac new_mac(const Sealer& sealer, const Thing& thing, const std::optional<std::string>& mac) {
  if (mac && key_id_of_mac(*mac) == sealer.sealing_key_id()) return {};
  if (!check_mac(sealer, thing, mac)) return {.sound = false};
  return {.mac = sealer.mac(mac_text(thing))};
}

}  // namespace

std::size_t Resealing::step_jobs(Connection& db, const Sealer& sealer, std::size_t limit) {
  auto rows = jobs_after(db, after_job_, limit);
  // What stood there in clear must not be found in the pages that become free.
  db.execute("PRAGMA secure_delete = ON");
  for (JobRow& row : rows) {
    const bool done = row.has_mac && key_id_of_mac(row.stored.mac) == key_id_;
    if (!done && !reseal(db, sealer, row)) all_sound_ = false;
    after_job_ = static_cast<std::int64_t>(row.job.id);
  }
  db.execute("PRAGMA secure_delete = FAST");
  return rows.size();
}

std::size_t Resealing::step_collections(Connection& db, const Sealer& sealer, std::size_t limit) {
  const auto rows = collections_after(db, after_collection_, limit);
  for (const CollectionRow& row : rows) {
    const auto renewed = new_mac(sealer, row.stored.collection, row.stored.mac);
    if (renewed.mac) db.run(kReplaceCollectionMac, row.id, Blob{*renewed.mac});
    all_sound_ = all_sound_ && renewed.sound;
    after_collection_ = row.id;
  }
  return rows.size();
}

std::size_t Resealing::step_tokens(Connection& db, const Sealer& sealer, std::size_t limit) {
  const auto rows = stored_tokens(db, after_token_, limit);
  for (const StoredToken& row : rows) {
    const auto renewed = new_mac(sealer, row.token, row.mac);
    if (renewed.mac) replace_token_mac(db, row.token.id, *renewed.mac);
    all_sound_ = all_sound_ && renewed.sound;
    after_token_ = row.token.id;
  }
  return rows.size();
}

std::size_t Resealing::step(Connection& db, const Sealer& sealer, std::size_t limit) {
  const std::string newest = sealer.sealing_key_id();
  if (limit == 0) return 0;
  if (newest != key_id_) *this = Resealing();
  if (finished_) return 0;
  if (sealer.demands_macs() && !db.value(kOtherKey, Blob{newest})) return 0;
  key_id_ = newest;
  std::size_t looked_at = step_jobs(db, sealer, limit);
  if (looked_at < limit) looked_at += step_collections(db, sealer, limit - looked_at);
  if (looked_at < limit) looked_at += step_tokens(db, sealer, limit - looked_at);
  FAILPOINT("resealed-slice");
  if (looked_at == limit) return limit;
  // All that came meanwhile was sealed with the newest.
  StoreSeal seal = read_seal(db, sealer);
  if (all_sound_) seal.key_ids = {newest};
  seal.complete = true;
  write_seal(db, sealer, seal);
  finished_ = true;
  return looked_at + 1;
}

}  // namespace belfry
