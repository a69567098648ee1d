// SPDX-License-Identifier: MIT
//
// StoreHealth remembers whether the store can be used. The engine tries it again every second
// while it fails; the log and /readyz hear of the trouble and of its end, not of every try.
//
// A full disk can still be read: only a write shows that it is over, or that nobody has had
// anything to write for a while.
//
// trouble() may be called from any thread, everything else from the engine's.

#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/instant.h"
#include "base/log.h"
#include "base/result.h"

namespace belfry {

class StoreHealth {
 public:
  static constexpr Ticks kStandsUnwritten = std::chrono::seconds{5};

  using Log = std::function<void(LogLevel level, const std::string& line)>;
  void set_log(Log log) { log_ = std::move(log); }

  void failed(const Error& error);
  void written();

  // A step that had nothing to write found everything in order.
  void read(Instant now);

  // Empty while the store can be used.
  std::string trouble() const;

 private:
  void set_trouble(std::string trouble);

  Log log_;
  bool failing_ = false;
  std::optional<Instant> unwritten_since_;

  mutable std::mutex mutex_;  // guards what follows
  std::string trouble_ = "it has not been read yet";
};

}  // namespace belfry
