// SPDX-License-Identifier: MIT

#include "app/engine_watch.h"

#include <fmt/format.h>

#include <utility>

#include "base/thread_name.h"

namespace belfry {

bool Silence::tick(std::uint64_t progress) {
  const bool beat = std::exchange(seen_, progress) != progress;
  ticks_ = beat ? 0 : ticks_ + 1;
  return beat;
}

EngineWatch::EngineWatch(Options options)
    : options_(std::move(options)), silence_(options_.tick), thread_([this] { run(); }) {}

void EngineWatch::end() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ended_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::string EngineWatch::trouble() const {
  const Millis silent = silence_.length();
  if (silent <= kBeatIsOld) return {};
  return fmt::format("the engine has not taken a step for {} s",
                     std::chrono::floor<std::chrono::seconds>(silent).count());
}

void EngineWatch::run() {
  name_thread("watch");
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, options_.tick, [this] { return ending_; })) look();
}

void EngineWatch::look() {
  if (silence_.tick(options_.progress())) return options_.on_beat();
  if (silence_.length() >= options_.given_up_after) options_.on_giving_up();
}

}  // namespace belfry
