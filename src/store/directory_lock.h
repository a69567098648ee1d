// SPDX-License-Identifier: MIT
//
// DirectoryLock keeps a second server away from a store's directory. The operating system holds
// the lock and gives it up when the process ends, however it ends.

#pragma once

#include <filesystem>

#include "base/result.h"
#include "store/durable_file.h"

namespace belfry {

class DirectoryLock {
 public:
  // Refused, with the process that holds it, where another has it.
  static Result<DirectoryLock> take(const std::filesystem::path& directory);

 private:
  explicit DirectoryLock(FileDescriptor file) : file_(std::move(file)) {}

  FileDescriptor file_;
};

}  // namespace belfry
