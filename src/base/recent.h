// SPDX-License-Identifier: MIT
//
// Recent is a table of bounded size: beyond it whatever was looked at longest ago is forgotten.
//
// Not for several threads at once.

#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace belfry {

template <typename Value>
class Recent {
 public:
  explicit Recent(std::size_t size_max) : size_max_(size_max) {}

  // None where it is not known; it stays as old as it was.
  const Value* peek(const std::string& key) const {
    const auto known = places_.find(key);
    return known == places_.end() ? nullptr : &known->second->second;
  }

  // Made anew where it is not known.
  Value& at(const std::string& key) {
    if (const auto known = places_.find(key); known != places_.end()) {
      entries_.splice(entries_.begin(), entries_, known->second);
      return entries_.front().second;
    }
    if (places_.size() >= size_max_) erase(entries_.back().first);
    entries_.emplace_front(key, Value{});
    places_.emplace(key, entries_.begin());
    return entries_.front().second;
  }

  void erase(const std::string& key) {
    const auto known = places_.find(key);
    if (known == places_.end()) return;
    const auto place = known->second;
    places_.erase(known);  // first: the key may be the entry's own
    entries_.erase(place);
  }

  std::size_t size() const { return places_.size(); }

 private:
  using Entries = std::list<std::pair<std::string, Value>>;  // what was looked at last is first

  std::size_t size_max_;
  Entries entries_;
  std::unordered_map<std::string, typename Entries::iterator> places_;
};

}  // namespace belfry
