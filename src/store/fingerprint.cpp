// SPDX-License-Identifier: MIT

#include "store/fingerprint.h"

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "base/sha256.h"
#include "wire/collection_json.h"
#include "wire/definition_json.h"

namespace belfry {

std::string fingerprint(const JobCollection& collection) {
  return sha256_hex(boost::json::serialize(write_collection(collection, ApiVersion::v2016_03_01)));
}

std::string fingerprint(const Job& job) {
  const char* const state = job.state == JobState::disabled ? "disabled " : "";
  return sha256_hex(state + definition_text(job.definition));
}

}  // namespace belfry
