// SPDX-License-Identifier: MIT
//
// Inbox is where other threads leave what the engine's next step is to take: commands from
// the API, outcomes from the dispatcher. While one step commits, the inbox fills; that is
// all there is to group commit.

#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "engine/command.h"
#include "model/attempt.h"
#include "model/audit.h"

namespace belfry {

inline constexpr std::size_t kWaitingCommandsMax = 10'000;

class Inbox {
 public:
  struct CommandLetter {
    Command command;
    ReplyTo reply_to;
    std::optional<AuditedRequest> request;  // none: it leaves no row in the audit log
  };
  struct Letters {
    std::vector<CommandLetter> commands;
    std::vector<std::pair<Attempt, Outcome>> reports;
  };

  // False when too many commands are waiting already; the caller answers "busy".
  bool submit(CommandLetter letter);

  // Never refused: there are no more reports than attempts on the wire.
  void report(const Attempt& attempt, Outcome outcome);

  Letters take();
  bool empty() const;

  // Returns when something is there, when `patience` is over, or after wake().
  void wait_for(Ticks patience);
  void wake();

 private:
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  Letters letters_;
  bool woken_ = false;
};

}  // namespace belfry
