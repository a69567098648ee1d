// SPDX-License-Identifier: MIT

#include "engine/store_health.h"

#include <utility>

namespace belfry {

void StoreHealth::failed(const Error& error) {
  set_trouble(error.message);
  unwritten_since_.reset();
  const bool known = std::exchange(failing_, true);
  if (!known && log_) log_(LogLevel::error, "the store failed: " + error.message);
}

void StoreHealth::written() {
  set_trouble({});
  if (std::exchange(failing_, false) && log_) log_(LogLevel::info, "the store works again");
}

void StoreHealth::read(Instant now) {
  if (!failing_) return set_trouble({});
  // The clock may have been put back.
  if (!unwritten_since_ || now < *unwritten_since_) unwritten_since_ = now;
  if (now - *unwritten_since_ >= kStandsUnwritten) written();
}

std::string StoreHealth::trouble() const {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void StoreHealth::set_trouble(std::string trouble) {
  const std::lock_guard lock(mutex_);
  trouble_ = std::move(trouble);
}

}  // namespace belfry
