// SPDX-License-Identifier: MIT
//
// PfxUpkeep opens the client certificates that an older version stored as they came in: one after
// the other, on a thread of its own that rests as long as it works, while the jobs that need them
// wait. It ends when there are none; in a store of this version there never are.

#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/engine.h"
#include "store/sqlite_store.h"

namespace belfry {

class PfxUpkeep {
 public:
  PfxUpkeep(SqliteStore& store, Engine& engine);
  ~PfxUpkeep();

 private:
  // The engine may answer when this is gone.
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    bool ending = false;
    bool answered = false;
    bool kept = false;
  };

  void run();
  bool open_all();
  bool open(const JobName& name);
  bool keep(const Job& job, JobDefinition definition);
  bool rest(Ticks time);

  SqliteStore& store_;
  Engine& engine_;
  const std::shared_ptr<Waiting> waiting_ = std::make_shared<Waiting>();
  std::thread thread_;
};

}  // namespace belfry
