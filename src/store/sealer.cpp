// SPDX-License-Identifier: MIT

#include "store/sealer.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>

#include "base/assert.h"

namespace belfry {

namespace {

constexpr char kVersion = 1;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kHeadBytes = 1 + kSealingKeyIdBytes + kNonceBytes;

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

std::uint8_t* bytes_of(char* text) {
  return reinterpret_cast<std::uint8_t*>(text);
}
const std::uint8_t* bytes_of(const char* text) {
  return reinterpret_cast<const std::uint8_t*>(text);
}

// Big-endian, so that it reads the same on every machine.
std::array<std::uint8_t, 8> associated_data(JobId job) {
  std::array<std::uint8_t, 8> out{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(job) >> (56 - 8 * i));
  }
  return out;
}

// A hash that no other use of the key shares, so that the id tells nothing about it.
std::string key_id(const SealingKey::Bytes& key) {
  constexpr std::string_view kPurpose = "belfry sealing key id";
  std::string input(kPurpose);
  input.append(reinterpret_cast<const char*>(key.data()), key.size());
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> hash{};
  ASSERT(EVP_Digest(input.data(), input.size(), hash.data(), nullptr, EVP_sha256(), nullptr) == 1);
  return {reinterpret_cast<const char*>(hash.data()), kSealingKeyIdBytes};
}

Error does_not_open(JobId job) {
  return {ErrorCode::internal,
          fmt::format("the secrets of job {} do not open: they were changed, or belong to "
                      "another job",
                      static_cast<std::int64_t>(job)),
          ""};
}

}  // namespace

SealingKey::SealingKey(const Bytes& bytes) : bytes_(bytes), id_(key_id(bytes)) {}

Result<SealingKey> SealingKey::random() {
  Bytes bytes{};
  if (RAND_priv_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) {
    return Error{ErrorCode::internal, "the system gives no random bytes for a key", ""};
  }
  return SealingKey(bytes);
}

std::string shown_key_id(std::string_view id) {
  std::string out;
  for (const char c : id) out += fmt::format("{:02x}", static_cast<std::uint8_t>(c));
  return out;
}

std::string_view key_id_of(std::string_view sealed) {
  return sealed.size() < kHeadBytes ? std::string_view() : sealed.substr(1, kSealingKeyIdBytes);
}

Sealer::Sealer(const std::vector<SealingKey>& keys)
    // Fetched once: OpenSSL would look it up by name at every use.
    : cipher_(EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr), &EVP_CIPHER_free) {
  ASSERT(cipher_ != nullptr);
  take(keys);
}

void Sealer::take(const std::vector<SealingKey>& keys) {
  ASSERT(!keys.empty());
  std::vector<Key> taken;
  for (const SealingKey& key : keys) taken.push_back(std::make_shared<const SealingKey>(key));
  const std::lock_guard lock(ring_->mutex);
  for (const Key& old : ring_->keys) {
    const bool again =
        std::ranges::any_of(keys, [&](const SealingKey& key) { return key.id() == old->id(); });
    if (!again) taken.push_back(old);
  }
  ring_->keys = std::move(taken);
}

Sealer::Key Sealer::find(std::string_view id) const {
  const std::lock_guard lock(ring_->mutex);
  const auto found =
      std::ranges::find_if(ring_->keys, [&](const Key& key) { return key->id() == id; });
  return found == ring_->keys.end() ? nullptr : *found;
}

Sealer::Key Sealer::sealing_key() const {
  const std::lock_guard lock(ring_->mutex);
  return ring_->keys.front();
}

Result<std::string> Sealer::seal(JobId job, std::string_view text) const {
  const Key sealing = sealing_key();
  const SealingKey& key = *sealing;
  std::string out(kHeadBytes + text.size() + kTagBytes, '\0');
  out[0] = kVersion;
  key.id().copy(&out[1], kSealingKeyIdBytes);
  std::uint8_t* nonce = bytes_of(&out[1 + kSealingKeyIdBytes]);
  if (RAND_bytes(nonce, kNonceBytes) != 1) {
    return Error{ErrorCode::internal, "the system gives no random bytes to seal with", ""};
  }
  const auto associated = associated_data(job);
  std::uint8_t* body = bytes_of(&out[kHeadBytes]);
  const Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int length = 0;
  const int size = static_cast<int>(text.size());
  const bool sealed =
      EVP_EncryptInit_ex2(context.get(), cipher_.get(), key.bytes().data(), nonce, nullptr) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &length, associated.data(),
                        static_cast<int>(associated.size())) == 1 &&
      EVP_EncryptUpdate(context.get(), body, &length, bytes_of(text.data()), size) == 1 &&
      EVP_EncryptFinal_ex(context.get(), body + length, &length) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, body + size) == 1;
  if (!sealed) return Error{ErrorCode::internal, "a job's secrets could not be sealed", ""};
  return out;
}

Result<std::string> Sealer::open(JobId job, std::string_view sealed) const {
  if (sealed.size() < kHeadBytes + kTagBytes || sealed[0] != kVersion) return does_not_open(job);
  const auto id = key_id_of(sealed);
  const Key key = find(id);
  if (key == nullptr) {
    return Error{ErrorCode::internal,
                 fmt::format("the secrets of job {} are sealed with the key {}, which is not here",
                             static_cast<std::int64_t>(job), shown_key_id(id)),
                 ""};
  }
  const std::uint8_t* nonce = bytes_of(&sealed[1 + kSealingKeyIdBytes]);
  const auto body = sealed.substr(kHeadBytes, sealed.size() - kHeadBytes - kTagBytes);
  std::string tag(sealed.substr(sealed.size() - kTagBytes));
  const auto associated = associated_data(job);
  std::string out(body.size(), '\0');
  const Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int length = 0;
  const bool opened =
      EVP_DecryptInit_ex2(context.get(), cipher_.get(), key->bytes().data(), nonce, nullptr) == 1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &length, associated.data(),
                        static_cast<int>(associated.size())) == 1 &&
      EVP_DecryptUpdate(context.get(), bytes_of(out.data()), &length, bytes_of(body.data()),
                        static_cast<int>(body.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytes_of(out.data()) + out.size(), &length) == 1;
  if (!opened) return does_not_open(job);
  return out;
}

}  // namespace belfry
