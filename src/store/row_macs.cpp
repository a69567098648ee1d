// SPDX-License-Identifier: MIT

#include "store/row_macs.h"

#include <fmt/format.h>

#include <algorithm>

#include "wire/access_json.h"

namespace belfry {
namespace {

// Fields one after the other, each with its length in front: no two rows have one text.
class MacText {
 public:
  explicit MacText(std::string_view kind, std::size_t bytes = 0) {
    text_.reserve(bytes + kFewFields);
    add(kind);
  }

  MacText& add(std::string_view field) {
    add_number(field.size());
    text_.append(field);
    return *this;
  }
  MacText& add(std::int64_t number) {
    add_number(static_cast<std::uint64_t>(number));
    return *this;
  }
  MacText& add(Instant instant) { return add(std::int64_t{instant.time_since_epoch().count()}); }
  template <typename Value>
  MacText& add(const std::optional<Value>& value) {
    add(std::int64_t{value.has_value()});
    return value ? add(*value) : *this;
  }

  std::string take() { return std::move(text_); }

 private:
  static constexpr std::size_t kFewFields = 256;

  // Big-endian, as everything that is sealed.
  void add_number(std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) text_ += static_cast<char>(number >> shift);
  }

  std::string text_;
};

}  // namespace

std::string mac_text(const Token& token) {
  return MacText("token")
      .add(token.id)
      .add(token.name)
      .add(token.secret_hash)
      .add(assignments_text(token.assignments))
      .add(token.created)
      .add(token.expires)
      .add(token.revoked)
      .take();
}

std::string mac_text(const JobCollection& collection) {
  const Quota& quota = collection.quota;
  MacText text("collection");
  text.add(folded(collection.key))
      .add(collection.location)
      .add(static_cast<std::int64_t>(collection.sku))
      .add(static_cast<std::int64_t>(collection.state))
      .add(std::int64_t{quota.max_job_count})
      .add(static_cast<std::int64_t>(quota.max_recurrence.frequency))
      .add(std::int64_t{quota.max_recurrence.interval})
      .add(static_cast<std::int64_t>(collection.tags.size()));
  for (const auto& [name, value] : collection.tags) text.add(name).add(value);
  return text.take();
}

std::string mac_text(const StoreSeal& seal) {
  std::vector<std::string> ids = seal.key_ids;
  std::sort(ids.begin(), ids.end());
  MacText text("store");
  text.add(std::int64_t{seal.complete});
  for (const std::string& id : ids) text.add(id);
  return text.take();
}

std::string mac_text(JobId job, const JobKey& key, const StoredDefinition& definition) {
  return MacText("definition", definition.document.size())
      .add(static_cast<std::int64_t>(job))
      .add(folded(key))
      .add(definition.document)
      .add(definition.main_secrets)
      .add(definition.error_secrets)
      .take();
}

Status check_mac(const Sealer& sealer, std::string_view text, std::optional<std::string_view> mac,
                 std::string_view row) {
  switch (sealer.judge(text, mac)) {
    case Sealer::Verdict::genuine:
    case Sealer::Verdict::missing:
      return Done{};
    case Sealer::Verdict::forged:
      return Error{ErrorCode::internal,
                   fmt::format("{} was not written by Belfry: its MAC {}. Somebody else has "
                               "changed the store",
                               row, mac ? "does not fit" : "is missing"),
                   ""};
    case Sealer::Verdict::key_missing:
      break;
  }
  return Error{ErrorCode::internal,
               fmt::format("{} cannot be verified: its MAC is of the key {}, which is not here",
                           row, shown_key_id(key_id_of_mac(*mac))),
               ""};
}

Status check_mac(const Sealer& sealer, const Token& token, std::optional<std::string_view> mac) {
  return check_mac(sealer, mac_text(token), mac, fmt::format("the token {}", token.id));
}

Status check_mac(const Sealer& sealer, const JobCollection& collection,
                 std::optional<std::string_view> mac) {
  return check_mac(sealer, mac_text(collection), mac,
                   fmt::format("the job collection {}", collection.key.name));
}

}  // namespace belfry
