// SPDX-License-Identifier: MIT

#include "store/sealer.h"

#include <fmt/format.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include <algorithm>

#include "base/assert.h"

namespace belfry {

namespace {

constexpr char kVersionOfBothRoles = 1;
constexpr char kVersion = 2;
constexpr std::size_t kNonceBytes = 12;
constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kMacBytes = 32;
constexpr std::size_t kHeadBytes = 1 + kSealingKeyIdBytes + kNonceBytes;

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

std::uint8_t* bytes_of(char* text) {
  return reinterpret_cast<std::uint8_t*>(text);
}
const std::uint8_t* bytes_of(const char* text) {
  return reinterpret_cast<const std::uint8_t*>(text);
}

// Big-endian, so that it reads the same on every machine.
std::string associated_data(JobId job) {
  std::string out(8, '\0');
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<char>(static_cast<std::uint64_t>(job) >> (56 - 8 * i));
  }
  return out;
}

std::string sha256(std::string_view text) {
  std::array<std::uint8_t, EVP_MAX_MD_SIZE> hash{};
  unsigned int size = 0;
  ASSERT(EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr) == 1);
  return {reinterpret_cast<const char*>(hash.data()), size};
}

std::string associated_data(const SecretPlace& place) {
  return associated_data(place.job) + (place.role == ActionRole::main ? 'm' : 'e') +
         sha256(place.destination);
}

// A hash that no other use of the key shares, so that the id tells nothing about it.
std::string key_id(const SealingKey::Bytes& key) {
  constexpr std::string_view kPurpose = "belfry sealing key id";
  std::string input(kPurpose);
  input.append(reinterpret_cast<const char*>(key.data()), key.size());
  return sha256(input).substr(0, kSealingKeyIdBytes);
}

// Another key than the one that encrypts, by HKDF: no key serves two purposes.
SealingKey::Bytes mac_key(const SealingKey& key) {
  std::string purpose = "belfry store mac";
  std::string digest = "SHA256";
  SealingKey::Bytes secret = key.bytes();
  SealingKey::Bytes out{};
  const std::unique_ptr<EVP_KDF, decltype(&EVP_KDF_free)> hkdf(
      EVP_KDF_fetch(nullptr, "HKDF", nullptr), &EVP_KDF_free);
  ASSERT(hkdf != nullptr);
  const std::unique_ptr<EVP_KDF_CTX, decltype(&EVP_KDF_CTX_free)> context(
      EVP_KDF_CTX_new(hkdf.get()), &EVP_KDF_CTX_free);
  const OSSL_PARAM with[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, digest.data(), digest.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, secret.data(), secret.size()),
      OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, purpose.data(), purpose.size()),
      OSSL_PARAM_construct_end()};
  ASSERT(EVP_KDF_derive(context.get(), out.data(), out.size(), with) == 1);
  return out;
}

using MacContext = std::shared_ptr<EVP_MAC_CTX>;

// Made once a key: to look HMAC up and to take the key in costs more than the MAC of a row.
MacContext keyed_hmac(const SealingKey& key) {
  std::string digest = "SHA256";
  const OSSL_PARAM with[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), digest.size()),
      OSSL_PARAM_construct_end()};
  const std::unique_ptr<EVP_MAC, decltype(&EVP_MAC_free)> hmac(
      EVP_MAC_fetch(nullptr, "HMAC", nullptr), &EVP_MAC_free);
  ASSERT(hmac != nullptr);
  MacContext context(EVP_MAC_CTX_new(hmac.get()), &EVP_MAC_CTX_free);
  const auto bytes = mac_key(key);
  ASSERT(EVP_MAC_init(context.get(), bytes.data(), bytes.size(), with) == 1);
  return context;
}

std::string hmac_of(const EVP_MAC_CTX& keyed, std::string_view text) {
  const std::unique_ptr<EVP_MAC_CTX, decltype(&EVP_MAC_CTX_free)> context(EVP_MAC_CTX_dup(&keyed),
                                                                          &EVP_MAC_CTX_free);
  std::string out(kMacBytes, '\0');
  std::size_t size = 0;
  ASSERT(context != nullptr &&
         EVP_MAC_update(context.get(), bytes_of(text.data()), text.size()) == 1 &&
         EVP_MAC_final(context.get(), bytes_of(out.data()), &size, out.size()) == 1);
  ASSERT(size == kMacBytes);
  return out;
}

Error does_not_open(JobId job) {
  return {ErrorCode::internal,
          fmt::format("the secrets of job {} do not open: they were changed, or belong to "
                      "another job, another action or another destination",
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

std::string_view key_id_of_mac(std::string_view mac) {
  return mac.size() == kSealingKeyIdBytes + kMacBytes ? mac.substr(0, kSealingKeyIdBytes)
                                                      : std::string_view();
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
  for (const SealingKey& key : keys) {
    taken.push_back(std::make_shared<const KeyInUse>(KeyInUse{key, keyed_hmac(key)}));
  }
  const std::lock_guard lock(ring_->mutex);
  for (const Key& old : ring_->keys) {
    const bool again =
        std::ranges::any_of(keys, [&](const SealingKey& key) { return key.id() == old->key.id(); });
    if (!again) taken.push_back(old);
  }
  ring_->keys = std::move(taken);
}

Sealer::Key Sealer::find(std::string_view id) const {
  const std::lock_guard lock(ring_->mutex);
  const auto found =
      std::ranges::find_if(ring_->keys, [&](const Key& key) { return key->key.id() == id; });
  return found == ring_->keys.end() ? nullptr : *found;
}

Sealer::Key Sealer::sealing_key() const {
  const std::lock_guard lock(ring_->mutex);
  return ring_->keys.front();
}

std::string Sealer::sealing_key_id() const {
  return sealing_key()->key.id();
}

Result<std::string> Sealer::seal(const SecretPlace& place, std::string_view text) const {
  const Key sealing = sealing_key();
  const SealingKey& key = sealing->key;
  std::string out(kHeadBytes + text.size() + kTagBytes, '\0');
  out[0] = kVersion;
  key.id().copy(&out[1], kSealingKeyIdBytes);
  std::uint8_t* nonce = bytes_of(&out[1 + kSealingKeyIdBytes]);
  if (RAND_bytes(nonce, kNonceBytes) != 1) {
    return Error{ErrorCode::internal, "the system gives no random bytes to seal with", ""};
  }
  const auto associated = associated_data(place);
  std::uint8_t* body = bytes_of(&out[kHeadBytes]);
  const Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int length = 0;
  const int size = static_cast<int>(text.size());
  const bool sealed =
      EVP_EncryptInit_ex2(context.get(), cipher_.get(), key.bytes().data(), nonce, nullptr) == 1 &&
      EVP_EncryptUpdate(context.get(), nullptr, &length, bytes_of(associated.data()),
                        static_cast<int>(associated.size())) == 1 &&
      EVP_EncryptUpdate(context.get(), body, &length, bytes_of(text.data()), size) == 1 &&
      EVP_EncryptFinal_ex(context.get(), body + length, &length) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kTagBytes, body + size) == 1;
  if (!sealed) return Error{ErrorCode::internal, "a job's secrets could not be sealed", ""};
  return out;
}

Result<std::string> Sealer::open(const SecretPlace& place, std::string_view sealed) const {
  if (!sealed.starts_with(kVersion)) return does_not_open(place.job);
  return open_with(place.job, associated_data(place), sealed);
}

bool Sealer::is_of_both_roles(std::string_view sealed) {
  return sealed.starts_with(kVersionOfBothRoles);
}

Result<std::string> Sealer::open_of_both_roles(JobId job, std::string_view sealed) const {
  if (!is_of_both_roles(sealed)) return does_not_open(job);
  return open_with(job, associated_data(job), sealed);
}

Result<std::string> Sealer::open_with(JobId job, std::string_view associated,
                                      std::string_view sealed) const {
  if (sealed.size() < kHeadBytes + kTagBytes) return does_not_open(job);
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
  std::string out(body.size(), '\0');
  const Context context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  int length = 0;
  const bool opened =
      EVP_DecryptInit_ex2(context.get(), cipher_.get(), key->key.bytes().data(), nonce, nullptr) ==
          1 &&
      EVP_DecryptUpdate(context.get(), nullptr, &length, bytes_of(associated.data()),
                        static_cast<int>(associated.size())) == 1 &&
      EVP_DecryptUpdate(context.get(), bytes_of(out.data()), &length, bytes_of(body.data()),
                        static_cast<int>(body.size())) == 1 &&
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, tag.data()) == 1 &&
      EVP_DecryptFinal_ex(context.get(), bytes_of(out.data()) + out.size(), &length) == 1;
  if (!opened) return does_not_open(job);
  return out;
}

std::string Sealer::mac(std::string_view text) const {
  const Key key = sealing_key();
  return key->key.id() + hmac_of(*key->hmac, text);
}

Sealer::Verdict Sealer::judge(std::string_view text, std::optional<std::string_view> mac) const {
  if (!mac) return demands_macs() ? Verdict::forged : Verdict::missing;
  const auto id = key_id_of_mac(*mac);
  if (id.empty()) return Verdict::forged;
  const Key key = find(id);
  if (key == nullptr) return Verdict::key_missing;
  const std::string expected = hmac_of(*key->hmac, text);
  const bool same = CRYPTO_memcmp(expected.data(), &(*mac)[kSealingKeyIdBytes], kMacBytes) == 0;
  return same ? Verdict::genuine : Verdict::forged;
}

}  // namespace belfry
