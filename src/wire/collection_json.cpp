// SPDX-License-Identifier: MIT

#include "wire/collection_json.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>

#include "wire/iso8601.h"
#include "wire/merge.h"
#include "wire/resource_path.h"
#include "wire/timing_json.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr Spelling<Sku> kSkus[] = {
    {"Standard", Sku::standard},
    {"Free", Sku::free},
    {"P10Premium", Sku::p10_premium},
    {"P20Premium", Sku::p20_premium},
};
constexpr Spelling<Sku> kOldSkus[] = {
    {"Standard", Sku::standard},      {"Free", Sku::free},
    {"Premium", Sku::p10_premium},    {"P10Premium", Sku::p10_premium},
    {"P20Premium", Sku::p20_premium},
};
constexpr Spelling<CollectionState> kStates[] = {
    {"Enabled", CollectionState::enabled},
    {"Disabled", CollectionState::disabled},
    {"Suspended", CollectionState::suspended},
};
constexpr Spelling<Frequency> kQuotaFrequencies[] = {
    {"Minute", Frequency::minute}, {"Hour", Frequency::hour},   {"Day", Frequency::day},
    {"Week", Frequency::week},     {"Month", Frequency::month},
};

std::string_view spelling_of(Sku sku, ApiVersion version) {
  if (sku == Sku::p10_premium && version != ApiVersion::v2016_03_01) return "Premium";
  for (const auto& [spelling, value] : kSkus) {
    if (value == sku) return spelling;
  }
  return {};
}

void read_tags(ObjectReader& reader, JobCollection& out, Reading& reading) {
  const json::value* value = reader.find("tags");
  if (value == nullptr) return;
  const auto* tags = value->if_object();
  if (tags == nullptr || tags->size() > kTagsMax) {
    reader.fail("tags", fmt::format("must be an object with at most {} members; it is {}.",
                                    kTagsMax, shown(*value)));
    return;
  }
  for (const auto& [name, tag] : *tags) {
    const auto* text = tag.if_string();
    if (text == nullptr || text->size() > kTagValueBytesMax || name.size() > kTagNameBytesMax) {
      reading.fail(fmt::format("tags.{}", std::string_view(name).substr(0, kShownValueMax)),
                   fmt::format("must be a string of at most {} bytes; its name may have {}.",
                               kTagValueBytesMax, kTagNameBytesMax));
      continue;
    }
    out.tags.emplace_back(std::string(name), std::string(*text));
  }
}

std::string_view plan_name(Sku sku) {
  return spelling_of(sku, ApiVersion::v2016_03_01);
}

// What a quota may be: what the plan allows, and what the collection has of the same plan already,
// for an operator may have lowered the ceilings since.
struct QuotaBounds {
  const Plan& plan;
  const Quota* stored;

  bool allow_count(int count) const {
    return count <= plan.ceiling.max_job_count ||
           (stored != nullptr && count == stored->max_job_count);
  }
  bool allow_recurrence(const MaxRecurrence& max) const {
    return shortest_length(max) >= shortest_length(plan.ceiling.max_recurrence) ||
           (stored != nullptr && max == stored->max_recurrence);
  }
};

void read_max_recurrence(ObjectReader max, Sku sku, const QuotaBounds& bounds, Quota& quota) {
  if (const auto frequency = max.choice("frequency", kQuotaFrequencies)) {
    quota.max_recurrence = {*frequency, 1};
  }
  if (const auto interval = max.integer("interval", 1, kIntervalMax)) {
    quota.max_recurrence.interval = static_cast<int>(*interval);
  }
  if (!bounds.allow_recurrence(quota.max_recurrence)) {
    const Plan& plan = bounds.plan;
    max.fail("frequency",
             fmt::format("The provided MaxRecurrence for job collection Quota '{}' exceeds the "
                         "permissible limit for {} collections '{}'.{}",
                         format_duration(shortest_length(quota.max_recurrence)), plan_name(sku),
                         format_duration(shortest_length(plan.ceiling.max_recurrence)),
                         more_than(plan)));
  }
}

void read_quota(ObjectReader quota, const QuotaBounds& bounds, JobCollection& out) {
  quota.skip("maxJobOccurrence");  // the live service took it, and did nothing with it
  if (const auto count = quota.integer("maxJobCount", 1, kCountMax)) {
    out.quota.max_job_count = static_cast<int>(*count);
    if (!bounds.allow_count(out.quota.max_job_count)) {
      const Plan& plan = bounds.plan;
      quota.fail(
          "maxJobCount",
          fmt::format("The maximum job count quota has a value that is too large: {} jobs "
                      "are allowed in a {} collection; it is {}.{}",
                      plan.ceiling.max_job_count, plan_name(out.sku), *count, more_than(plan)));
    }
  }
  if (auto max = quota.object("maxRecurrence")) {
    read_max_recurrence(std::move(*max), out.sku, bounds, out.quota);
  }
}

void read_properties(ObjectReader properties, const Plans& plans, const JobCollection* stored,
                     ApiVersion version, JobCollection& out) {
  auto sku = properties.object("sku");
  if (sku) {
    if (sku->find("name") == nullptr) sku->fail("name", "is missing.");
    out.sku = (version == ApiVersion::v2016_03_01 ? sku->choice("name", kSkus)
                                                  : sku->choice("name", kOldSkus))
                  .value_or(Sku::standard);
  } else if (properties.find("sku") == nullptr) {
    properties.fail("sku",
                    "is missing: its name is one of Standard, Free, P10Premium, P20Premium.");
  }
  out.state = properties.choice("state", kStates).value_or(CollectionState::enabled);
  const Plan& plan = plans.of(out.sku);
  out.quota = plan.given;
  if (auto quota = properties.object("quota")) {
    const bool same_plan = stored != nullptr && stored->sku == out.sku;
    read_quota(std::move(*quota), {plan, same_plan ? &stored->quota : nullptr}, out);
  }
}

json::object write_quota(const Quota& quota) {
  json::object recurrence;
  recurrence["frequency"] = belfry::spelling_of(quota.max_recurrence.frequency);
  recurrence["interval"] = quota.max_recurrence.interval;
  json::object out;
  out["maxJobCount"] = quota.max_job_count;
  out["maxRecurrence"] = std::move(recurrence);
  return out;
}

}  // namespace

JobCollection read_collection(const json::value& body, const CollectionKey& key, const Plans& plans,
                              const JobCollection* stored, ApiVersion version, Reading& reading) {
  JobCollection out;
  out.key = key;
  const auto* object = body.if_object();
  if (object == nullptr) {
    reading.fail("", fmt::format("The body must be a JSON object; it is {}.", shown(body)));
    return out;
  }
  ObjectReader reader(*object, "", reading);
  reader.skip("id");
  reader.skip("type");
  const auto name = reader.text("name", kNameBytesMax);
  if (name && !equal_ignoring_case(*name, key.name)) {
    reader.fail("name", fmt::format("must be the collection's name in the address, '{}'; it is "
                                    "'{}'.",
                                    key.name, *name));
  }
  out.location = reader.text("location", kLocationBytesMax).value_or("");
  if (reader.find("location") == nullptr) reader.fail("location", "is missing: it names a region.");
  read_tags(reader, out, reading);
  if (auto properties = reader.object("properties")) {
    read_properties(std::move(*properties), plans, stored, version, out);
  } else if (reader.find("properties") == nullptr) {
    reader.fail("properties", "is missing: it names the sku.");
  }
  return out;
}

json::object write_collection(const JobCollection& collection, ApiVersion version) {
  json::object sku;
  sku["name"] = spelling_of(collection.sku, version);
  json::object properties;
  properties["sku"] = std::move(sku);
  properties["state"] = kStates[static_cast<std::size_t>(collection.state)].first;
  properties["quota"] = write_quota(collection.quota);

  json::object out;
  out["id"] = collection_id(collection.key);
  out["type"] = "Microsoft.Scheduler/jobCollections";
  out["name"] = collection.key.name;
  out["location"] = collection.location;
  if (!collection.tags.empty()) {
    json::object tags;
    for (const auto& [name, value] : collection.tags) tags[name] = value;
    out["tags"] = std::move(tags);
  }
  out["properties"] = std::move(properties);
  return out;
}

json::value patched_collection(const JobCollection& collection, const json::value& patch,
                               ApiVersion version) {
  const auto* object = patch.if_object();
  if (object == nullptr) return patch;  // read_collection() says what is wrong with it
  json::value merged = write_collection(collection, version);
  // A new plan brings its own quota along unless the patch names one.
  if (names_member(*object, {"properties", "sku", "name"})) {
    merged.as_object()["properties"].as_object().erase("quota");
  }
  merge_into(merged, patch, {"tags"});
  return merged;
}

json::object write_provider(std::string_view subscription,
                            const std::vector<std::string>& locations) {
  json::array versions;
  for (const auto& [spelling, version] : kApiVersions) versions.push_back(spelling.data());
  json::array places;
  for (const std::string& location : locations) places.push_back(json::string(location));
  json::array types;
  for (const auto* name : {"jobcollections", "operations", "operationResults", "flows"}) {
    json::object type;
    type["resourceType"] = name;
    type["locations"] = places;
    type["apiVersions"] = versions;
    types.push_back(std::move(type));
  }
  json::object out;
  out["id"] = fmt::format("/subscriptions/{}/providers/Microsoft.Scheduler", subscription);
  out["namespace"] = "Microsoft.Scheduler";
  out["resourceTypes"] = std::move(types);
  out["registrationState"] = "Registered";
  return out;
}

}  // namespace belfry
