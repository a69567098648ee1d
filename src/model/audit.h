// SPDX-License-Identifier: MIT
//
// What the audit log says of a change, or of somebody who was not let in: who asked for what, and
// what came of it. No secret is ever part of it: definitions are told by a hash that leaves their
// secrets out.

#pragma once

#include <cstdint>
#include <string>

#include "base/instant.h"

namespace belfry {

// local: whoever is on this machine, in local mode or with the store's directory in hand.
// unknown: somebody who was not let in.
enum class PrincipalKind { local, token, bearer, unknown };

// Known before anything is done.
struct AuditedRequest {
  PrincipalKind kind = PrincipalKind::local;
  std::string principal;     // its name
  std::string principal_id;  // the token's id, or who its issuer says it is
  std::string address;       // from where
  std::string operation;     // Microsoft.Scheduler/jobCollections/jobs/write
  std::string scope;         // folded(Scope) of what it is about: who may read the row
  std::string resource;      // the id of what it is about

  bool operator==(const AuditedRequest&) const = default;
};

// refused: nobody was recognised, and nothing changed.
enum class AuditResult { created, updated, deleted, started, refused };

struct AuditEntry {
  AuditedRequest request;
  Instant at;
  AuditResult result = AuditResult::updated;
  std::string before;  // the definition's hash; empty: there was none
  std::string after;   // empty: there is none any more

  bool operator==(const AuditEntry&) const = default;
};

// Rows are numbered from 1 without a gap, and the hash of each covers the one before it.
struct AuditRow {
  std::int64_t number = 0;
  AuditEntry entry;
  std::string hash;

  bool operator==(const AuditRow&) const = default;
};

}  // namespace belfry
