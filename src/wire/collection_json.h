// SPDX-License-Identifier: MIT
//
// Job collections and the provider's metadata as Azure spells them.

#pragma once

#include <boost/json/object.hpp>

#include "model/collection.h"
#include "model/plan.h"
#include "wire/api_version.h"
#include "wire/json.h"

namespace belfry {

inline constexpr std::size_t kTagsMax = 50;
inline constexpr std::size_t kTagNameBytesMax = 512;
inline constexpr std::size_t kTagValueBytesMax = 256;
inline constexpr std::size_t kLocationBytesMax = 90;

// Reads the body of a PUT. What the quota leaves out is filled in from the SKU's plan. What is
// `stored` may stay, also where the plan would no longer give it.
JobCollection read_collection(const boost::json::value& body, const CollectionKey& key,
                              const Plans& plans, const JobCollection* stored, ApiVersion version,
                              Reading& reading);

boost::json::object write_collection(const JobCollection& collection, ApiVersion version);

// The body of a PATCH laid over the collection as it is; tags are replaced whole.
boost::json::value patched_collection(const JobCollection& collection,
                                      const boost::json::value& patch, ApiVersion version);

// What `GET /subscriptions/S/providers/Microsoft.Scheduler` answers.
boost::json::object write_provider(std::string_view subscription,
                                   const std::vector<std::string>& locations);

}  // namespace belfry
