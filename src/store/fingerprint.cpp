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
  return fingerprint(definition_text(job.definition), job.state);
}

std::string fingerprint(const std::string& definition_text, JobState state) {
  return state == JobState::disabled ? sha256_hex("disabled " + definition_text)
                                     : sha256_hex(definition_text);
}

}  // namespace belfry
