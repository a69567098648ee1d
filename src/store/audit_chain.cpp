// SPDX-License-Identifier: MIT

#include "store/audit_chain.h"

#include <fmt/format.h>

#include "base/sha256.h"

namespace belfry {
namespace {

// Each part with its length, so that no two rows have the same text.
void add(std::string& text, std::string_view part) {
  text += fmt::format_int(part.size()).c_str();
  text += ':';
  text += part;
}

void add(std::string& text, std::int64_t number) {
  add(text, std::string_view(fmt::format_int(number).c_str()));
}

}  // namespace

std::string chained_hash(std::string_view previous, std::int64_t number, const AuditEntry& entry) {
  std::string text;
  add(text, previous);
  add(text, number);
  add(text, entry.at.time_since_epoch().count());
  add(text, static_cast<std::int64_t>(entry.request.kind));
  const AuditedRequest& by = entry.request;
  for (const std::string* part :
       {&by.principal, &by.principal_id, &by.address, &by.operation, &by.scope, &by.resource}) {
    add(text, std::string_view(*part));
  }
  add(text, static_cast<std::int64_t>(entry.result));
  add(text, std::string_view(entry.before));
  add(text, std::string_view(entry.after));
  return sha256_hex(text);
}

}  // namespace belfry
