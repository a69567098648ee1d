// SPDX-License-Identifier: MIT

#include "app/input_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace belfry {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path) {
  return File(std::fopen(path.c_str(), "rb"), &std::fclose);
}

File standard_input() {
  if (isatty(STDIN_FILENO) != 0) {
    fmt::print(stderr, "belfry: reading a job from standard input; end it with Ctrl-D.\n");
  }
  return File(stdin, [](std::FILE*) { return 0; });
}

Result<std::string> read_whole(const File& file, const std::string& path, std::size_t bytes_max) {
  const auto refused = [&path](std::string_view why) {
    return Error{ErrorCode::invalid, fmt::format("cannot read '{}': {}.", path, why), "file"};
  };
  if (!file) return refused(std::strerror(errno));
  std::string text(bytes_max + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return refused(std::strerror(errno));
  if (text.size() > bytes_max) return refused(fmt::format("it is larger than {} bytes", bytes_max));
  return text;
}

}  // namespace

Result<std::string> read_job_file(const std::string& path, std::size_t bytes_max) {
  return read_whole(path == "-" ? standard_input() : open_file(path), path, bytes_max);
}

Result<std::string> read_settings_file(const std::string& path) {
  return read_whole(open_file(path), path, kSettingsFileBytesMax);
}

}  // namespace belfry
