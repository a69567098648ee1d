// SPDX-License-Identifier: MIT
//
// Clerk asks the engine for writes and keeps the books on them: which took effect, what must
// therefore be stored. An answered write is stored exactly as answered; one that was refused
// left nothing behind; one whose answer was lost has happened or not, but never half.

#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "store/memory_store.h"
#include "tests/simulation/record.h"

namespace belfry {

struct KnownJob {
  JobId id{};
  JobKey key;
  std::int64_t gen = 0;
  JobDefinition definition;
  bool enabled = true;
  int perhaps_replaced = 0;  // a put of what was there, of an ended job or not, lost its answer
};

struct KnownCollection {
  JobCollection collection;
  std::map<std::string, KnownJob> jobs;  // by folded name
  bool runs() const { return collection.state == CollectionState::enabled; }
};

// What a step did to the clerk's writes.
struct StepOutcome {
  bool applied = false;  // the step's batch is stored
  bool faulty = false;   // the store or the process failed in it
  bool swept = false;
};

class Clerk {
 public:
  using Fault = std::function<void(JobId, const std::string&)>;
  Clerk(MemoryStore& truth, Plans plans, Fault fault)
      : truth_(truth), plans_(std::move(plans)), fault_(std::move(fault)) {}

  void ask(Command command) { asked_.push_back({std::move(command), std::nullopt}); }
  std::size_t asked() const { return asked_.size(); }

  // Hands what was asked to the engine. `before_reply` is called with each answer.
  void submit_all(Engine& engine, const std::function<void()>& before_reply);

  // After the step: the writes that took effect, in order. Each event's step and time are the
  // caller's to add.
  std::vector<Event> resolve(const StepOutcome& outcome);
  const std::optional<Result<Reply>>& last_reply() const { return last_reply_; }

  // Jobs that are no longer stored, though nobody deleted them.
  std::vector<Event> find_swept();

  // Is everything stored that must be, and nothing else?
  void audit();

  const std::map<std::string, KnownCollection>& collections() const { return collections_; }

 private:
  struct Asked {
    Command command;
    std::optional<Result<Reply>> reply;
  };
  friend struct Effect;
  friend struct Doubt;
  friend struct Refusal;

  KnownCollection* find(const CollectionKey& key);
  KnownJob* find(const JobKey& key);
  bool took_effect(const Asked& asked, const StepOutcome& outcome);
  bool left_all_as_it_was(const Reply& reply);
  void resolve_doubts();
  void check_replies(const std::map<std::string, Job>& replies, const StepOutcome& outcome);
  void audit(const KnownJob& job);

  MemoryStore& truth_;
  const Plans plans_;
  Fault fault_;
  std::vector<Asked> asked_;
  std::optional<Result<Reply>> last_reply_;
  std::map<std::string, KnownCollection> collections_;  // by folded key
};

}  // namespace belfry
