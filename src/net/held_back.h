// SPDX-License-Identifier: MIT
//
// HeldBack keeps what must not go yet, and lets each go when its time has come, not before.
// On the thread of its io_context alone.

#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <map>
#include <utility>

#include "net/http_client_exchange.h"

namespace belfry {

template <typename Item>
class HeldBack {
 public:
  using LetGo = std::function<void(Item)>;

  HeldBack(boost::asio::io_context& context, LetGo let_go)
      : timer_(context), let_go_(std::move(let_go)) {}

  void hold(SteadyTime until, Item item) {
    const auto placed = items_.emplace(until, std::move(item));
    if (placed == items_.begin()) arm();
  }

 private:
  void arm() {
    timer_.expires_at(items_.begin()->first);
    timer_.async_wait([this](const boost::system::error_code& error) {
      if (!error) let_go_of_due();
    });
  }

  void let_go_of_due() {
    const SteadyTime now = SteadyClock::now();
    while (!items_.empty() && items_.begin()->first <= now) {
      let_go_(std::move(items_.extract(items_.begin()).mapped()));
    }
    if (!items_.empty()) arm();
  }

  boost::asio::steady_timer timer_;
  LetGo let_go_;
  std::multimap<SteadyTime, Item> items_;  // by when they may go
};

}  // namespace belfry
