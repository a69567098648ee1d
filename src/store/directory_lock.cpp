// SPDX-License-Identifier: MIT

#include "store/directory_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

namespace belfry {

namespace {

constexpr mode_t kOwnerOnly = 0600;

// What the holder wrote into the file: its process id, if it came that far.
std::string holder(const FileDescriptor& file) {
  std::array<char, 20> text{};
  const ssize_t length = ::pread(file.get(), text.data(), text.size(), 0);
  std::string pid(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  while (pid.ends_with('\n')) pid.pop_back();
  if (pid.empty() || pid.find_first_not_of("0123456789") != std::string::npos) return "";
  return fmt::format(" (process {})", pid);
}

}  // namespace

Result<DirectoryLock> DirectoryLock::take(const std::filesystem::path& directory) {
  const auto path = directory / "belfry.lock";
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kOwnerOnly));
  if (!file.open()) return file_error("open", path);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return file_error("lock", path);
    return Error{
        ErrorCode::conflict,
        fmt::format("{} is in use by another belfry{}: stop it, or choose another directory",
                    directory.native(), holder(file)),
        ""};
  }
  if (::ftruncate(file.get(), 0) != 0) return file_error("write", path);
  if (const auto done = write_all(file, fmt::format("{}\n", ::getpid()), path); !done) {
    return done.error();
  }
  return DirectoryLock(std::move(file));
}

}  // namespace belfry
