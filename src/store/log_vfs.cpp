// SPDX-License-Identifier: MIT

#include "store/log_vfs.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "base/assert.h"
#include "store/sqlite.h"

namespace belfry {
namespace {

// SQLite's own way to the disk takes less than 128 KiB at a time.
constexpr std::size_t kGatheredMax = 120 << 10;

std::string new_name() {
  static std::atomic<int> count = 0;
  return "belfry-log-" + std::to_string(++count);
}

// The log as one connection has it open. Whatever is asked of the file comes after what was
// gathered.
class LogFile {
 public:
  explicit LogFile(sqlite3_vfs& base)
      : memory_(static_cast<std::size_t>(base.szOsFile)),
        file_(reinterpret_cast<sqlite3_file*>(memory_.data())) {}

  // As SQLite's way to the disk has it; to be opened by that.
  sqlite3_file* file() { return file_; }
  const sqlite3_io_methods& methods() const { return *file_->pMethods; }

  int write(const void* bytes, int size, sqlite3_int64 offset) {
    const bool follows = offset == begin_ + static_cast<sqlite3_int64>(gathered_.size());
    const std::size_t together = gathered_.size() + static_cast<std::size_t>(size);
    if (!follows || together > kGatheredMax) {
      if (const int code = write_gathered(); code != SQLITE_OK) return code;
      begin_ = offset;
    }
    gathered_.append(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
    return SQLITE_OK;
  }

  int write_gathered() {
    if (gathered_.empty()) return SQLITE_OK;
    const int size = static_cast<int>(gathered_.size());
    const int code = methods().xWrite(file_, gathered_.data(), size, begin_);
    begin_ += size;
    gathered_.clear();
    return code;
  }

 private:
  std::vector<char> memory_;
  sqlite3_file* const file_;
  std::string gathered_;
  sqlite3_int64 begin_ = 0;  // where what is gathered belongs
};

struct Handle {
  sqlite3_file base;
  LogFile* log;
};

LogFile& log_of(sqlite3_file* file) {
  return *reinterpret_cast<Handle*>(file)->log;
}

// Asks the same of the file below.
template <auto kMethod, typename... Arguments>
int pass_on(sqlite3_file* file, Arguments... arguments) {
  LogFile& log = log_of(file);
  return (log.methods().*kMethod)(log.file(), arguments...);
}

template <auto kMethod, typename... Arguments>
int pass_on_after_writing(sqlite3_file* file, Arguments... arguments) {
  if (const int code = log_of(file).write_gathered(); code != SQLITE_OK) return code;
  return pass_on<kMethod>(file, arguments...);
}

int close(sqlite3_file* file) {
  const std::unique_ptr<LogFile> log(&log_of(file));
  const int written = log->write_gathered();
  const int closed = log->methods().xClose(log->file());
  return written != SQLITE_OK ? written : closed;
}

int write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  return log_of(file).write(bytes, size, offset);
}

using Methods = sqlite3_io_methods;

// Version 1: neither shared memory nor mapped pages are ever asked of a log.
constexpr Methods kMethods = {1,
                              close,
                              pass_on_after_writing<&Methods::xRead>,
                              write,
                              pass_on_after_writing<&Methods::xTruncate>,
                              pass_on_after_writing<&Methods::xSync>,
                              pass_on_after_writing<&Methods::xFileSize>,
                              pass_on<&Methods::xLock>,
                              pass_on<&Methods::xUnlock>,
                              pass_on<&Methods::xCheckReservedLock>,
                              pass_on<&Methods::xFileControl>,
                              pass_on<&Methods::xSectorSize>,
                              pass_on<&Methods::xDeviceCharacteristics>,
                              nullptr,
                              nullptr,
                              nullptr,
                              nullptr,
                              nullptr,
                              nullptr};

}  // namespace

LogVfs::LogVfs(const std::string& base) : name_(new_name()), registration_{} {
  set_up_sqlite();
  sqlite3_vfs* const found = sqlite3_vfs_find(base.empty() ? nullptr : base.c_str());
  ASSERT(found != nullptr);
  registration_ = {*found, found};
  sqlite3_vfs& vfs = registration_.vfs;
  vfs.pNext = nullptr;
  vfs.zName = name_.c_str();
  vfs.szOsFile = std::max(found->szOsFile, static_cast<int>(sizeof(Handle)));
  vfs.xOpen = open;
  ASSERT(sqlite3_vfs_register(&vfs, /*makeDflt=*/0) == SQLITE_OK);
}

LogVfs::~LogVfs() {
  sqlite3_vfs_unregister(&registration_.vfs);
}

int LogVfs::open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags,
                 int* out_flags) {
  sqlite3_vfs& base = *reinterpret_cast<Registration*>(vfs)->base;
  if ((flags & SQLITE_OPEN_WAL) == 0) return base.xOpen(&base, path, file, flags, out_flags);
  file->pMethods = nullptr;
  auto log = std::make_unique<LogFile>(base);
  if (const int code = base.xOpen(&base, path, log->file(), flags, out_flags); code != SQLITE_OK) {
    return code;
  }
  Handle& handle = *reinterpret_cast<Handle*>(file);
  handle.log = log.release();
  handle.base.pMethods = &kMethods;
  return SQLITE_OK;
}

}  // namespace belfry
