// SPDX-License-Identifier: MIT
//
// Turns is a queue in which owners take turns, and of one owner the first come goes first: a
// thousand things of one delay another's by one. Who goes next is decided here and nowhere else.
//
// Not for several threads at once.

#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/assert.h"

namespace belfry {

template <typename Item>
class Turns {
 public:
  void push(const std::string& owner, Item item) {
    Queue& queue = queues_[owner];
    if (queue.empty()) turns_.push_back(owner);
    queue.push_back(std::move(item));
    ++size_;
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t size_of(const std::string& owner) const {
    const auto found = queues_.find(owner);
    return found == queues_.end() ? 0 : found->second.size();
  }

  // The owner who had the last turn stays in front until the next one: whoever comes meanwhile
  // goes before their next thing, and after everybody else's.
  Item pop() {
    ASSERT(!empty());
    if (turns_.front() == served_) {
      turns_.push_back(std::move(turns_.front()));
      turns_.pop_front();
    }
    served_ = turns_.front();
    Queue& queue = queues_.at(served_);
    Item first = std::move(queue.front());
    queue.pop_front();
    --size_;
    if (queue.empty()) {
      queues_.erase(served_);
      turns_.pop_front();
    }
    return first;
  }

 private:
  using Queue = std::deque<Item>;

  std::unordered_map<std::string, Queue> queues_;  // by owner; none is empty
  std::deque<std::string> turns_;                  // the owners of the queues, each once
  std::string served_;                             // the owner who had the last turn
  std::size_t size_ = 0;
};

}  // namespace belfry
