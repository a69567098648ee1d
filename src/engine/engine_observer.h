// SPDX-License-Identifier: MIT
//
// EngineObserver is told of the transactions of an engine: what it wrote, and when it waits for
// the store. It stands apart so that counting and logging are no business of the engine, which
// has no clock to measure with either.
//
// Called on the engine's thread, which waits meanwhile: it must be quick and must not block.

#pragma once

#include <vector>

#include "store/store.h"

namespace belfry {

class EngineObserver {
 public:
  virtual ~EngineObserver() = default;

  virtual void committing() = 0;

  // What followed committing(): either this, with a result for each write …
  virtual void committed(const std::vector<Write>& writes,
                         const std::vector<WriteResult>& results) = 0;
  // … or that the store failed. What was not stored is tried again, and told of again.
  virtual void commit_failed() = 0;
};

}  // namespace belfry
