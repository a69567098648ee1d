// SPDX-License-Identifier: MIT
//
// LossyVfs lets SQLite keep its files on a LossyDisk: sqlite3_vfs and sqlite3_io_methods, with
// locks and the shared memory of the write-ahead log's index for the connections of one
// process. For tests with a single thread.

#pragma once

#include <sqlite3.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/assert.h"
#include "store/lossy_disk.h"
#include "store/sqlite.h"

namespace belfry {

class LossyVfs {
 public:
  // SQLite knows it by that name while it lives.
  LossyVfs(std::string name, LossyDisk& disk) : name_(std::move(name)), disk_(disk), random_(3) {
    vfs_.iVersion = 2;
    vfs_.szOsFile = sizeof(Handle);
    vfs_.mxPathname = 512;
    vfs_.zName = name_.c_str();
    vfs_.pAppData = this;
    vfs_.xOpen = open;
    vfs_.xDelete = remove;
    vfs_.xAccess = access;
    vfs_.xFullPathname = full_pathname;
    vfs_.xRandomness = randomness;
    vfs_.xSleep = [](sqlite3_vfs*, int) { return 0; };
    vfs_.xCurrentTime = [](sqlite3_vfs*, double* days) { return *days = 2461042.0, SQLITE_OK; };
    vfs_.xGetLastError = [](sqlite3_vfs*, int, char*) { return 0; };
    vfs_.xCurrentTimeInt64 = [](sqlite3_vfs*, sqlite3_int64* now) {
      return *now = 212'634'028'800'000, SQLITE_OK;
    };
    set_up_sqlite();
    ASSERT(sqlite3_vfs_register(&vfs_, 0) == SQLITE_OK);
  }
  ~LossyVfs() { sqlite3_vfs_unregister(&vfs_); }
  LossyVfs(const LossyVfs&) = delete;
  LossyVfs& operator=(const LossyVfs&) = delete;

  const std::string& name() const { return name_; }

 private:
  // Who holds which lock of a file, and its shared memory: all gone with the power.
  struct Shared {
    int readers = 0;
    void* reserved = nullptr;
    void* exclusive = nullptr;
    std::vector<std::unique_ptr<std::string>> regions;
    std::array<int, SQLITE_SHM_NLOCK> shm_readers{};
    std::array<void*, SQLITE_SHM_NLOCK> shm_writer{};
    int mappings = 0;
  };

  struct Handle {
    sqlite3_file base;
    LossyVfs* vfs;
    std::shared_ptr<DiskFile>* file;
    std::shared_ptr<Shared>* shared;
    int level;
    bool mapped;
  };

  static LossyVfs& self(sqlite3_vfs* vfs) { return *static_cast<LossyVfs*>(vfs->pAppData); }
  static Handle& handle(sqlite3_file* file) { return *reinterpret_cast<Handle*>(file); }
  static DiskFault next(Handle& it, DiskOperation operation) {
    return it.vfs->disk_.next(operation);
  }

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* out, int flags, int*) {
    Handle& it = handle(out);
    it.base.pMethods = nullptr;
    LossyVfs& me = self(vfs);
    ASSERT(path != nullptr);
    if (me.disk_.next(DiskOperation::open) != DiskFault::none) return SQLITE_CANTOPEN;
    auto file = me.disk_.find(path);
    if (file == nullptr && (flags & SQLITE_OPEN_CREATE) == 0) return SQLITE_CANTOPEN;
    if (file == nullptr) file = me.disk_.make(path);
    auto& shared = me.shared_[file.get()];
    if (shared == nullptr) shared = std::make_shared<Shared>();
    it.vfs = &me;
    it.file = new std::shared_ptr<DiskFile>(file);
    it.shared = new std::shared_ptr<Shared>(shared);
    it.level = SQLITE_LOCK_NONE;
    it.mapped = false;
    it.base.pMethods = &kMethods;
    return SQLITE_OK;
  }

  static int close(sqlite3_file* file) {
    Handle& it = handle(file);
    shm_unmap(file, 0);
    unlock(file, SQLITE_LOCK_NONE);
    delete it.file;
    delete it.shared;
    return SQLITE_OK;
  }

  static int remove(sqlite3_vfs* vfs, const char* path, int) {
    LossyVfs& me = self(vfs);
    if (me.disk_.next(DiskOperation::remove) != DiskFault::none) return SQLITE_IOERR_DELETE;
    if (me.disk_.find(path) == nullptr) return SQLITE_IOERR_DELETE_NOENT;
    me.disk_.remove(path);
    return SQLITE_OK;
  }

  static int access(sqlite3_vfs* vfs, const char* path, int, int* out) {
    *out = self(vfs).disk_.find(path) != nullptr ? 1 : 0;
    return SQLITE_OK;
  }

  static int full_pathname(sqlite3_vfs*, const char* path, int size, char* out) {
    if (std::strlen(path) >= static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
    std::strcpy(out, path);
    return SQLITE_OK;
  }

  static int randomness(sqlite3_vfs* vfs, int size, char* out) {
    for (int i = 0; i < size; ++i) out[i] = static_cast<char>(self(vfs).random_.next());
    return size;
  }

  static int read(sqlite3_file* file, void* out, int size, sqlite3_int64 offset) {
    Handle& it = handle(file);
    if (next(it, DiskOperation::read) != DiskFault::none) return SQLITE_IOERR_READ;
    const std::string& bytes = (*it.file)->now;
    const auto from = std::min(static_cast<std::size_t>(offset), bytes.size());
    const std::size_t length =
        bytes.copy(static_cast<char*>(out), static_cast<std::size_t>(size), from);
    if (length == static_cast<std::size_t>(size)) return SQLITE_OK;
    std::memset(static_cast<char*>(out) + length, 0, static_cast<std::size_t>(size) - length);
    return SQLITE_IOERR_SHORT_READ;
  }

  static int write(sqlite3_file* file, const void* in, int size, sqlite3_int64 offset) {
    Handle& it = handle(file);
    const std::string_view bytes(static_cast<const char*>(in), static_cast<std::size_t>(size));
    const auto place = static_cast<std::size_t>(offset);
    const DiskFault fault = next(it, DiskOperation::write);
    if (fault == DiskFault::none) {
      LossyDisk::write(**it.file, place, bytes);
      return SQLITE_OK;
    }
    if (fault == DiskFault::short_write) {
      LossyDisk::write(**it.file, place, bytes.substr(0, bytes.size() / 2));
    }
    return fault == DiskFault::full || fault == DiskFault::short_write ? SQLITE_FULL
                                                                       : SQLITE_IOERR_WRITE;
  }

  static int truncate(sqlite3_file* file, sqlite3_int64 size) {
    Handle& it = handle(file);
    if (next(it, DiskOperation::truncate) != DiskFault::none) return SQLITE_IOERR_TRUNCATE;
    LossyDisk::truncate(**it.file, static_cast<std::size_t>(size));
    return SQLITE_OK;
  }

  static int sync(sqlite3_file* file, int) {
    Handle& it = handle(file);
    if (next(it, DiskOperation::sync) != DiskFault::none) return SQLITE_IOERR_FSYNC;
    it.vfs->disk_.sync(**it.file);
    return SQLITE_OK;
  }

  static int file_size(sqlite3_file* file, sqlite3_int64* out) {
    *out = static_cast<sqlite3_int64>((*handle(file).file)->now.size());
    return SQLITE_OK;
  }

  static int lock(sqlite3_file* file, int level) {
    Handle& it = handle(file);
    Shared& shared = **it.shared;
    if (level <= it.level) return SQLITE_OK;
    if (shared.exclusive != nullptr && shared.exclusive != &it) return SQLITE_BUSY;
    if (level >= SQLITE_LOCK_RESERVED && shared.reserved != nullptr && shared.reserved != &it) {
      return SQLITE_BUSY;
    }
    if (level == SQLITE_LOCK_EXCLUSIVE && shared.readers > 1) return SQLITE_BUSY;
    if (it.level == SQLITE_LOCK_NONE) ++shared.readers;
    if (level >= SQLITE_LOCK_RESERVED) shared.reserved = &it;
    if (level == SQLITE_LOCK_EXCLUSIVE) shared.exclusive = &it;
    it.level = level;
    return SQLITE_OK;
  }

  static int unlock(sqlite3_file* file, int level) {
    Handle& it = handle(file);
    Shared& shared = **it.shared;
    if (level >= it.level) return SQLITE_OK;
    if (shared.exclusive == &it) shared.exclusive = nullptr;
    if (shared.reserved == &it) shared.reserved = nullptr;
    if (level == SQLITE_LOCK_NONE) --shared.readers;
    it.level = level;
    return SQLITE_OK;
  }

  static int check_reserved(sqlite3_file* file, int* out) {
    *out = (*handle(file).shared)->reserved != nullptr ? 1 : 0;
    return SQLITE_OK;
  }

  static int shm_map(sqlite3_file* file, int region, int size, int extend, void volatile** out) {
    Handle& it = handle(file);
    Shared& shared = **it.shared;
    if (!it.mapped) ++shared.mappings;
    it.mapped = true;
    *out = nullptr;
    const auto index = static_cast<std::size_t>(region);
    while (extend != 0 && shared.regions.size() <= index) {
      shared.regions.push_back(std::make_unique<std::string>(static_cast<std::size_t>(size), '\0'));
    }
    if (index < shared.regions.size()) *out = shared.regions[index]->data();
    return SQLITE_OK;
  }

  static int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
    Handle& it = handle(file);
    Shared& shared = **it.shared;
    for (auto i = static_cast<std::size_t>(offset); i < static_cast<std::size_t>(offset + count);
         ++i) {
      int& readers = shared.shm_readers[i];
      void*& writer = shared.shm_writer[i];
      if ((flags & SQLITE_SHM_UNLOCK) != 0) {
        if ((flags & SQLITE_SHM_EXCLUSIVE) != 0 && writer == &it) writer = nullptr;
        if ((flags & SQLITE_SHM_SHARED) != 0 && readers > 0) --readers;
        continue;
      }
      const bool exclusive = (flags & SQLITE_SHM_EXCLUSIVE) != 0;
      if (writer != nullptr || (exclusive && readers > 0)) {
        // SQLite asks for several at once only exclusively: give back what was taken.
        for (auto taken = static_cast<std::size_t>(offset); taken < i; ++taken) {
          shared.shm_writer[taken] = nullptr;
        }
        return SQLITE_BUSY;
      }
      if (exclusive) writer = &it;
      if (!exclusive) ++readers;
    }
    return SQLITE_OK;
  }

  static void shm_barrier(sqlite3_file*) {}

  static int shm_unmap(sqlite3_file* file, int) {
    Handle& it = handle(file);
    if (!it.mapped) return SQLITE_OK;
    it.mapped = false;
    if (--(*it.shared)->mappings == 0) (*it.shared)->regions.clear();
    return SQLITE_OK;
  }

  static int file_control(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
  static int sector_size(sqlite3_file*) { return 4096; }
  static int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

  static constexpr sqlite3_io_methods kMethods = {2,
                                                  close,
                                                  read,
                                                  write,
                                                  truncate,
                                                  sync,
                                                  file_size,
                                                  lock,
                                                  unlock,
                                                  check_reserved,
                                                  file_control,
                                                  sector_size,
                                                  characteristics,
                                                  shm_map,
                                                  shm_lock,
                                                  shm_barrier,
                                                  shm_unmap,
                                                  nullptr,
                                                  nullptr};

  const std::string name_;
  LossyDisk& disk_;
  Random random_;
  sqlite3_vfs vfs_{};
  std::map<DiskFile*, std::shared_ptr<Shared>> shared_;
};

}  // namespace belfry
