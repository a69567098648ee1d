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
  return fingerprint(job.definition, job.state);
}

std::string fingerprint(const JobDefinition& definition, JobState state) {
  const char* const rests = state == JobState::disabled ? "disabled " : "";
  return sha256_hex(rests + definition_text(definition));
}

}  // namespace belfry
