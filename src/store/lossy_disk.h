// SPDX-License-Identifier: MIT
//
// LossyDisk is a disk for tests, in memory. It keeps what was written apart from what was
// synced, so that the power can fail at any operation: then every sector that was not synced
// may be there or not, a name that was made may be missing, and one that was removed may be
// back. It can also fail an operation in the ways disks do. All of it repeats from a seed.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace belfry {

enum class DiskOperation { open, read, write, truncate, sync, remove };

enum class DiskFault {
  none,
  power_loss,   // from here on nothing works, until the power is back
  error,        // the operation fails and does nothing
  full,         // a write finds no room
  short_write,  // a write finds no room after half of it
};

// What of the writes that were not synced survives a power loss.
enum class Survivors { none, some, all };

struct DiskFile {
  struct Change {
    std::size_t offset = 0;
    std::string bytes;  // empty: cut off at `offset`
  };

  std::string now;      // as programs see it
  std::string durable;  // as it was when it was synced last
  bool named = false;   // its name is durable
  std::vector<Change> unsynced;
};

class LossyDisk {
 public:
  static constexpr std::size_t kSector = 512;

  explicit LossyDisk(std::uint64_t seed) : random_(seed) {}

  // Of the operations that can fail that way, the one with that ordinal from now on, counted
  // from 1, does, and so do the next while the fault lasts.
  void plan(DiskFault fault, int ordinal, int lasting = 1) {
    fault_ = fault;
    fault_at_ = ordinal;
    fault_until_ = ordinal + lasting;
    operations_ = 0;
    powered_ = true;
  }
  // How many operations could have failed that way since.
  int operations() const { return operations_; }
  bool powered() const { return powered_; }
  void cut_power() { powered_ = false; }

  // Becomes what the other one durably holds.
  void copy(const LossyDisk& other) {
    names_.clear();
    for (const auto& [name, file] : other.names_) names_[name] = std::make_shared<DiskFile>(*file);
  }

  // A disk that says it has synced and has not; to see that a test would notice.
  void lie_about_syncs() { honest_ = false; }

  // The power is back.
  void restart(Survivors survivors) {
    std::map<std::string, std::shared_ptr<DiskFile>> names;
    for (const auto& [name, file] : removed_) {
      if (survivors == Survivors::none || (survivors == Survivors::some && random_.one_in(2))) {
        names[name] = file;
      }
    }
    for (const auto& [name, file] : names_) {
      if (file->named || survivors == Survivors::all ||
          (survivors == Survivors::some && random_.one_in(2))) {
        names[name] = file;
      }
    }
    for (const auto& [name, file] : names) lose_unsynced(*file, survivors);
    names_ = std::move(names);
    removed_.clear();
    plan(DiskFault::none, 0);
  }

  // What becomes of the next operation.
  DiskFault next(DiskOperation operation) {
    if (!powered_) return DiskFault::power_loss;
    if (!can_fail(fault_, operation)) return DiskFault::none;
    ++operations_;
    if (operations_ < fault_at_ || operations_ >= fault_until_) return DiskFault::none;
    powered_ = fault_ != DiskFault::power_loss;
    return fault_;
  }

  std::shared_ptr<DiskFile> find(const std::string& name) const {
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : found->second;
  }

  std::shared_ptr<DiskFile> make(const std::string& name) {
    auto& file = names_[name];
    if (file == nullptr) file = std::make_shared<DiskFile>();
    return file;
  }

  void remove(const std::string& name) {
    const auto found = names_.find(name);
    if (found == names_.end()) return;
    if (found->second->named) removed_[name] = found->second;
    names_.erase(found);
  }

  static void write(DiskFile& file, std::size_t offset, std::string_view bytes) {
    put(file.now, {offset, std::string(bytes)});
    file.unsynced.push_back({offset, std::string(bytes)});
  }

  static void truncate(DiskFile& file, std::size_t size) {
    file.now.resize(size, '\0');
    file.unsynced.push_back({size, ""});
  }

  // The first sync of a new file syncs its directory as well, as SQLite does on Unix.
  void sync(DiskFile& file) {
    if (!honest_) return;
    if (!file.named) sync_names();
    file.durable = file.now;
    file.unsynced.clear();
  }

 private:
  void sync_names() {
    for (const auto& [name, file] : names_) file->named = true;
    removed_.clear();
  }

  static bool can_fail(DiskFault fault, DiskOperation operation) {
    switch (fault) {
      case DiskFault::none:
        return false;
      case DiskFault::power_loss:  // while nothing changes it is the same as a little later
        return operation != DiskOperation::read && operation != DiskOperation::open;
      case DiskFault::error:
        return true;
      case DiskFault::full:
      case DiskFault::short_write:
        return operation == DiskOperation::write;
    }
    return false;
  }

  static void put(std::string& bytes, const DiskFile::Change& change) {
    if (change.bytes.empty()) {
      bytes.resize(change.offset, '\0');
      return;
    }
    if (bytes.size() < change.offset + change.bytes.size()) {
      bytes.resize(change.offset + change.bytes.size(), '\0');
    }
    bytes.replace(change.offset, change.bytes.size(), change.bytes);
  }

  // A write reaches the disk sector by sector, in any order, or does not.
  void put_some_sectors(std::string& bytes, const DiskFile::Change& change) {
    for (std::size_t at = 0; at < change.bytes.size();) {
      const std::size_t place = change.offset + at;
      const std::size_t length = std::min(kSector - place % kSector, change.bytes.size() - at);
      if (random_.one_in(2)) put(bytes, {place, change.bytes.substr(at, length)});
      at += length;
    }
    if (change.bytes.empty() && random_.one_in(2)) put(bytes, change);
  }

  void lose_unsynced(DiskFile& file, Survivors survivors) {
    if (survivors == Survivors::some) {
      for (const auto& change : file.unsynced) put_some_sectors(file.durable, change);
    }
    if (survivors == Survivors::all) file.durable = file.now;
    file.now = file.durable;
    file.unsynced.clear();
    file.named = true;
  }

  Random random_;
  std::map<std::string, std::shared_ptr<DiskFile>> names_;
  std::map<std::string, std::shared_ptr<DiskFile>> removed_;  // durably there still
  DiskFault fault_ = DiskFault::none;
  int fault_at_ = 0;
  int fault_until_ = 0;
  int operations_ = 0;
  bool powered_ = true;
  bool honest_ = true;
};

}  // namespace belfry
