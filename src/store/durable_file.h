// SPDX-License-Identifier: MIT
//
// Files that must be there, whole, after a power loss: a file's bytes are durable once the file
// is synced, its name once its directory is. These few functions do both, or say what failed.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace belfry {

// What errno says, with what was being done: "cannot open /a/b: Permission denied".
Error file_error(std::string_view doing, const std::filesystem::path& path);

// An open file's descriptor, closed with its owner.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;

  int get() const { return fd_; }
  bool open() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Whether something has that name. An error where one may not look.
Result<bool> is_there(const std::filesystem::path& path);

// The path from the root on, for people; as it is where the working directory cannot be told.
std::filesystem::path full_path(const std::filesystem::path& path);

// Makes the directory, for its owner alone, where there is none. One that is there must be ours or
// root's, and nobody else may write in it: whoever can puts what he likes in the place of our
// files. Root may work in everybody's.
Status make_directory(const std::filesystem::path& path);
Status expect_own_directory(const std::filesystem::path& path);
Status sync_directory(const std::filesystem::path& path);

// Makes an empty file that its owner alone may read; one that is there is an error.
Result<FileDescriptor> make_private_file(const std::filesystem::path& path);
Status write_all(const FileDescriptor& file, std::string_view bytes,
                 const std::filesystem::path& path);
Status sync_file(const std::filesystem::path& path);

// No file is opened through a symbolic link in its place. This is for those that a library opens.
Status expect_no_link(const std::filesystem::path& path);

// Gives a synced file its final name, which must be free, and makes that durable.
Status publish(const std::filesystem::path& from, const std::filesystem::path& to);

// The same where the name is taken: whoever reads it finds the old file or the new one, whole.
Status replace(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace belfry
