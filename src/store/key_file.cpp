// SPDX-License-Identifier: MIT

#include "store/key_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "store/durable_file.h"

namespace belfry {

namespace {

constexpr std::size_t kDigits = 2 * kSealingKeyBytes;
constexpr mode_t kNotOnlyOwner = S_IRWXG | S_IRWXO;

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
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
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

std::string key_text(const SealingKey& key) {
  std::string out;
  for (const std::uint8_t byte : key.bytes()) out += fmt::format("{:02x}", byte);
  return out + '\n';
}

}  // namespace

Result<std::optional<SealingKey>> read_key_file(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open() && errno == ENOENT) return std::optional<SealingKey>();
  if (!file.open()) return file_error("read the key file", path);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) return file_error("read the key file", path);
  if ((status.st_mode & kNotOnlyOwner) != 0) {
    return bad_key_file(
        path, fmt::format("may be read by others than its owner: chmod 600 {}", path.native()));
  }
  std::array<char, kDigits + 3> text{};  // the digits, an end of line, and one too many
  const ssize_t length = ::read(file.get(), text.data(), text.size());
  if (length < 0) return file_error("read the key file", path);
  auto key = parse_key({text.data(), static_cast<std::size_t>(length)});
  if (!key) return bad_key_file(path, fmt::format("does not hold {} hexadecimal digits", kDigits));
  return key;
}

Result<SealingKey> make_key_file(const std::filesystem::path& path) {
  TRY_ASSIGN(SealingKey key, SealingKey::random());
  // Under another name until it is whole: a crash must not leave half a key behind.
  const std::filesystem::path unfinished = path.native() + ".new";
  ::unlink(unfinished.c_str());
  TRY_ASSIGN(const FileDescriptor file, make_private_file(unfinished));
  if (const auto done = write_all(file, key_text(key), unfinished); !done) return done.error();
  if (const auto done = sync_file(unfinished); !done) return done.error();
  if (const auto done = publish(unfinished, path); !done) return done.error();
  return key;
}

}  // namespace belfry
