// SPDX-License-Identifier: MIT

#include "store/key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/failpoint.h"
#include "store/durable_file.h"
#include "store/sqlite_open.h"

namespace belfry {

namespace {

constexpr std::size_t kDigits = 2 * kSealingKeyBytes;
constexpr mode_t kNotOnlyOwner = S_IRWXG | S_IRWXO;

// A service manager hands secrets over in a directory of its own and sees to who may read them;
// newer ones do so by an access list, which looks like a right of the group.
bool is_handed_over(const std::filesystem::path& path) {
  const char* directory = std::getenv("CREDENTIALS_DIRECTORY");
  return directory != nullptr && path.parent_path() == directory;
}

// The key beside the store is no link. One that an operator names may be: a cluster hands its
// secrets over as links.
bool is_our_own(const std::filesystem::path& path) {
  return path == key_path(path.parent_path());
}

Error bad_key_file(const std::filesystem::path& path, std::string_view fault) {
  return {ErrorCode::invalid, fmt::format("the key file {} {}", path.native(), fault), ""};
}

std::optional<std::uint8_t> digit(char c) {
  if ('0' <= c && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if ('a' <= c && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if ('A' <= c && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

std::optional<SealingKey> parse_key(std::string_view text) {
  if (text.size() != kDigits) return std::nullopt;
  SealingKey::Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto high = digit(text[2 * i]);
    const auto low = digit(text[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    bytes[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return SealingKey(bytes);
}

// A line each; none when any of them is no key, or there are too many.
std::optional<std::vector<SealingKey>> parse_keys(std::string_view text) {
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  std::vector<SealingKey> keys;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto key = parse_key(line);
    if (!key || keys.size() == kSealingKeysMax) return std::nullopt;
    keys.push_back(*key);
  }
  if (keys.empty()) return std::nullopt;
  return keys;
}

std::string keys_text(const std::vector<SealingKey>& keys) {
  std::string out;
  for (const SealingKey& key : keys) {
    for (const std::uint8_t byte : key.bytes()) out += fmt::format("{:02x}", byte);
    out += '\n';
  }
  return out;
}

// Under another name until it is whole: a crash must not leave half a key behind.
Result<std::filesystem::path> write_unfinished(const std::filesystem::path& path,
                                               const std::vector<SealingKey>& keys) {
  const std::filesystem::path unfinished = path.native() + ".new";
  ::unlink(unfinished.c_str());
  TRY_ASSIGN(const FileDescriptor file, make_private_file(unfinished));
  if (const auto done = write_all(file, keys_text(keys), unfinished); !done) return done.error();
  if (const auto done = sync_file(unfinished); !done) return done.error();
  return unfinished;
}

}  // namespace

Result<std::vector<SealingKey>> read_key_file(const std::filesystem::path& path) {
  const int flags = is_our_own(path) ? O_RDONLY | O_NOFOLLOW : O_RDONLY;
  const FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK));
  if (!file.open() && errno == ENOENT) return std::vector<SealingKey>();
  if (!file.open()) return file_error("read the key file", path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return file_error("read the key file", path);
  if (!S_ISREG(status.st_mode)) return bad_key_file(path, "is not a file");
  const mode_t refused = is_handed_over(path) ? mode_t{S_IRWXO | S_IWGRP} : kNotOnlyOwner;
  if ((status.st_mode & refused) != 0) {
    return bad_key_file(
        path, fmt::format("may be read by others than its owner: chmod 600 {}", path.native()));
  }
  std::array<char, kSealingKeysMax*(kDigits + 2) + 1> text{};  // all lines, and one byte too many
  const ssize_t length = ::read(file.get(), text.data(), text.size());
  if (length < 0) return file_error("read the key file", path);
  auto keys = parse_keys({text.data(), static_cast<std::size_t>(length)});
  if (keys) return *std::move(keys);
  return bad_key_file(path, fmt::format("does not hold {} hexadecimal digits in each of its lines, "
                                        "of which there may be {}",
                                        kDigits, kSealingKeysMax));
}

Result<SealingKey> make_key_file(const std::filesystem::path& path) {
  TRY_ASSIGN(SealingKey key, SealingKey::random());
  TRY_ASSIGN(const std::filesystem::path unfinished, write_unfinished(path, {key}));
  if (const auto done = publish(unfinished, path); !done) return done.error();
  return key;
}

Status replace_key_file(const std::filesystem::path& path, const std::vector<SealingKey>& keys) {
  struct stat old {};
  if (::lstat(path.c_str(), &old) != 0) return file_error("read the key file", path);
  TRY_ASSIGN(const std::filesystem::path unfinished, write_unfinished(path, keys));
  // It stays the server's, whoever changes it.
  if (::geteuid() != old.st_uid && ::chown(unfinished.c_str(), old.st_uid, old.st_gid) != 0) {
    return file_error("give to its owner", unfinished);
  }
  FAILPOINT("key-file-written");
  return replace(unfinished, path);
}

}  // namespace belfry
