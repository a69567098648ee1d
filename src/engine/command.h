// SPDX-License-Identifier: MIT
//
// Command is a write asked of the engine; Reply is what came of it. Nothing in a reply is
// told before it is durable.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "model/collection.h"
#include "model/job.h"

namespace belfry {

// `expected_gen`: the command stands only while the thing is still as it was read; none for
// "whatever it is now".
struct PutCollectionCommand {
  JobCollection collection;
  std::optional<std::int64_t> expected_gen;
};

struct DeleteCollectionCommand {
  CollectionKey key;
};

struct SetCollectionStateCommand {
  CollectionKey key;
  CollectionState state = CollectionState::enabled;
};

// `fingerprint` is the one of the job that is wanted (store/fingerprint.h), for the audit log.
// Empty: the engine makes it, which has better things to do.
struct PutJobCommand {
  JobKey key;
  Shared<JobDefinition> definition;
  bool enabled = true;
  std::string fingerprint = {};
  std::optional<std::int64_t> expected_gen = {};
};

struct PatchJobCommand {
  JobKey key;
  Shared<JobDefinition> definition;
  bool enabled = true;
  std::int64_t expected_gen = 0;
};

struct SetJobStateCommand {
  JobKey key;
  bool enabled = true;
};

struct DeleteJobCommand {
  JobKey key;
};

struct RunJobCommand {
  JobKey key;
};

// The server's own: what is kept of the job's client certificates is in their files' place. Nothing
// changes for who looks at the job.
struct KeepCertificatesCommand {
  JobKey key;
  Shared<JobDefinition> definition;
  std::int64_t expected_gen = 0;
};

// Changes nothing: the audit log tells that somebody was refused.
struct NoteRefusalCommand {};

using Command =
    std::variant<PutCollectionCommand, DeleteCollectionCommand, SetCollectionStateCommand,
                 PutJobCommand, PatchJobCommand, SetJobStateCommand, DeleteJobCommand,
                 RunJobCommand, KeepCertificatesCommand, NoteRefusalCommand>;

// What the command left behind: the collection or the job as stored, or nothing after DELETE.
struct Reply {
  std::optional<JobCollection> collection;
  std::optional<Job> job;
  bool created = false;
};

// Called once, on the engine's thread.
using ReplyTo = std::function<void(Result<Reply>)>;

}  // namespace belfry
