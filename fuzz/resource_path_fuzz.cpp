// SPDX-License-Identifier: MIT
//
// Any text as a resource path: refused with a reason, or read into names that keep their
// limits and whose own path reads as the same names.

#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "wire/resource_path.h"

namespace belfry {
namespace {

void check_name(const std::string& name) {
  ASSERT(name.size() <= kNameBytesMax);
  ASSERT(name.find('/') == std::string::npos && name.find('\0') == std::string::npos);
}

void check_key(const JobKey& key) {
  check_name(key.collection.subscription);
  check_name(key.collection.resource_group);
  check_name(key.collection.name);
  check_name(key.name);
}

void check_written_reads_the_same(const ResourcePath& path) {
  if (path.resource == Resource::collection) {
    const auto again = parse_resource_path(collection_id(path.key.collection));
    ASSERT(again && again->resource == Resource::collection);
    ASSERT(same(again->key.collection, path.key.collection));
  }
  if (path.resource == Resource::job) {
    const auto again = parse_resource_path(job_id(path.key));
    ASSERT(again && again->resource == Resource::job);
    ASSERT(same(again->key, path.key));
  }
}

void check_escapes(std::string_view text) {
  ASSERT(text.find('\0') != std::string_view::npos ||
         percent_decoded(percent_encoded(text)) == text);
  const auto decoded = percent_decoded(text);
  if (decoded) ASSERT(decoded->size() <= text.size());
}

void check(std::string_view text) {
  check_escapes(text);
  const auto path = parse_resource_path(text);
  if (!path) {
    ASSERT(!path.error().message.empty());
    return;
  }
  check_key(path->key);
  check_written_reads_the_same(*path);
}

}  // namespace
}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  belfry::check({reinterpret_cast<const char*>(data), size});
  return 0;
}
