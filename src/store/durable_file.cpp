// SPDX-License-Identifier: MIT

#include "store/durable_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace belfry {

namespace {

constexpr mode_t kOwnerOnlyFile = 0600;
constexpr mode_t kOwnerOnlyDirectory = 0700;

Status sync_path(const std::filesystem::path& path, int flags) {
  const FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC));
  if (!file.open()) return file_error("open", path);
  if (::fsync(file.get()) != 0) return file_error("sync", path);
  return Done{};
}

Error refused(const std::filesystem::path& path, std::string_view why) {
  return {ErrorCode::invalid, fmt::format("{} {}", path.native(), why), ""};
}

std::filesystem::path directory_of(const std::filesystem::path& path) {
  const auto parent = path.parent_path();
  return parent.empty() ? std::filesystem::path(".") : parent;
}

}  // namespace

Error file_error(std::string_view doing, const std::filesystem::path& path) {
  const int number = errno;
  if (number == ELOOP) return refused(path, "is a symbolic link: put the file itself there");
  return {ErrorCode::unavailable,
          fmt::format("cannot {} {}: {}", doing, path.native(), std::strerror(number)), ""};
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

Result<bool> is_there(const std::filesystem::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) return true;
  if (errno == ENOENT || errno == ENOTDIR) return false;
  return file_error("look for", path);
}

std::filesystem::path full_path(const std::filesystem::path& path) {
  std::error_code unknown;
  const auto full = std::filesystem::absolute(path, unknown);
  return unknown ? path : full.lexically_normal();
}

Status expect_own_directory(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return file_error("look at", path);
  const uid_t us = ::geteuid();
  if (us != 0 && status.st_uid != us && status.st_uid != 0) {
    return refused(path, fmt::format("belongs to the user {}, who could put anything in the place "
                                     "of its files: chown it, or choose another directory",
                                     status.st_uid));
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) == 0) return Done{};
  return refused(path, fmt::format("may be written by others than its owner: chmod go-w {}, or "
                                   "choose a directory in it",
                                   path.native()));
}

Status expect_no_link(const std::filesystem::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return Done{};
  return refused(path, "is a symbolic link: put the file itself there");
}

Status make_directory(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), kOwnerOnlyDirectory) == 0) return sync_directory(directory_of(path));
  if (errno == EEXIST) {
    std::error_code unreadable;
    if (std::filesystem::is_directory(path, unreadable)) return expect_own_directory(path);
    errno = ENOTDIR;  // a file of that name says more than "exists"
  }
  return file_error("make the directory", path);
}

Status sync_directory(const std::filesystem::path& path) {
  return sync_path(path, O_RDONLY | O_DIRECTORY);
}

Result<FileDescriptor> make_private_file(const std::filesystem::path& path) {
  const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  FileDescriptor file(::open(path.c_str(), flags, kOwnerOnlyFile));
  if (!file.open()) return file_error("make the file", path);
  return file;
}

Status write_all(const FileDescriptor& file, std::string_view bytes,
                 const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return file_error("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return Done{};
}

Status sync_file(const std::filesystem::path& path) {
  return sync_path(path, O_RDWR | O_NOFOLLOW);
}

Status publish(const std::filesystem::path& from, const std::filesystem::path& to) {
  // link() fails where the name is taken, which rename() would overwrite.
  if (::link(from.c_str(), to.c_str()) != 0) return file_error("make the file", to);
  if (::unlink(from.c_str()) != 0) return file_error("remove", from);
  return sync_directory(directory_of(to));
}

Status replace(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) return file_error("replace", to);
  return sync_directory(directory_of(to));
}

}  // namespace belfry
