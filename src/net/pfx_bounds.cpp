// SPDX-License-Identifier: MIT

#include "net/pfx_bounds.h"

#include <fmt/format.h>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>

namespace belfry {
namespace {

constexpr const char* kExportAnew = "export it anew, as `openssl pkcs12 -export` does";

// Of an RSA key's public exponent: it takes part in every signature.
constexpr int kExponentBitsMax = 64;

Error refused(std::string why) {
  return {ErrorCode::invalid, std::move(why), {}};
}

template <typename T, void (*kFree)(T*)>
struct FreeUnpacked {
  void operator()(T* thing) const { kFree(thing); }
};
template <typename T, void (*kFree)(T*)>
using Unpacked = std::unique_ptr<T, FreeUnpacked<T, kFree>>;

bool is_one_of(int kind, std::initializer_list<int> kinds) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

std::string name_of(const ASN1_OBJECT* kind) {
  char name[80];
  OBJ_obj2txt(name, sizeof name, kind, /*no_name=*/0);
  return name;
}

struct Algorithm {
  explicit Algorithm(const X509_ALGOR* algorithm) {
    X509_ALGOR_get0(&object, &parameter_type, &parameter, algorithm);
  }

  int kind() const { return OBJ_obj2nid(object); }

  // None where the parameter is something else.
  template <typename T, void (*kFree)(T*)>
  Unpacked<T, kFree> parameter_as(const ASN1_ITEM* item) const {
    if (parameter_type != V_ASN1_SEQUENCE) return nullptr;
    const auto* packed = static_cast<const ASN1_STRING*>(parameter);
    return Unpacked<T, kFree>(static_cast<T*>(ASN1_item_unpack(packed, item)));
  }

  const ASN1_OBJECT* object = nullptr;
  int parameter_type = V_ASN1_UNDEF;
  const void* parameter = nullptr;
};

Error not_understood(const ASN1_OBJECT* kind) {
  return refused(
      fmt::format("is encrypted with '{}', which is not one of the ways that are understood: {}.",
                  name_of(kind), kExportAnew));
}

Error malformed() {
  return refused("does not say how it is encrypted.");
}

// Those of PKCS #12 itself: they derive with SHA-1, three blocks at most.
bool is_simple_encryption(int kind) {
  return is_one_of(kind,
                   {NID_pbe_WithSHA1And128BitRC4, NID_pbe_WithSHA1And40BitRC4,
                    NID_pbe_WithSHA1And3_Key_TripleDES_CBC, NID_pbe_WithSHA1And2_Key_TripleDES_CBC,
                    NID_pbe_WithSHA1And128BitRC2_CBC, NID_pbe_WithSHA1And40BitRC2_CBC});
}

// With these a key is at most two blocks of any of the hashes.
bool is_known_cipher(int kind) {
  return is_one_of(kind, {NID_aes_128_cbc, NID_aes_192_cbc, NID_aes_256_cbc, NID_des_ede3_cbc});
}

bool is_known_hash(int kind) {
  return is_one_of(kind, {NID_hmacWithSHA1, NID_hmacWithSHA224, NID_hmacWithSHA256,
                          NID_hmacWithSHA384, NID_hmacWithSHA512});
}

bool is_known_digest(int kind) {
  return is_one_of(kind, {NID_sha1, NID_sha224, NID_sha256, NID_sha384, NID_sha512});
}

// Of an RSA key, by OpenSSL's name; 0 where there is none.
int bits_of(const EVP_PKEY* key, const char* part) {
  BIGNUM* number = nullptr;
  if (EVP_PKEY_get_bn_param(key, part, &number) != 1) return 0;
  const int bits = BN_num_bits(number);
  BN_clear_free(number);
  return bits;
}

}  // namespace

Status PfxBudget::take_iterations(const ASN1_INTEGER* count) {
  const long iterations = ASN1_INTEGER_get(count);  // -1: more than a long holds
  if (iterations < 0 || iterations > iterations_left_) {
    return refused(fmt::format("takes more than {} iterations to open, all in all: {}.",
                               kPfxIterationsMax, kExportAnew));
  }
  iterations_left_ -= iterations;
  return Done{};
}

Status PfxBudget::take_mac(const PKCS12* file) {
  if (PKCS12_mac_present(file) != 1) return Done{};
  const X509_ALGOR* how = nullptr;
  const ASN1_INTEGER* iterations = nullptr;
  PKCS12_get0_mac(nullptr, &how, nullptr, &iterations, file);
  const Algorithm digest(how);
  if (!is_known_digest(digest.kind())) return not_understood(digest.object);
  return iterations == nullptr ? Status(Done{}) : take_iterations(iterations);
}

Status PfxBudget::take_encryption(const X509_ALGOR* how) {
  const Algorithm encryption(how);
  if (is_simple_encryption(encryption.kind())) {
    const auto simple = encryption.parameter_as<PBEPARAM, PBEPARAM_free>(ASN1_ITEM_rptr(PBEPARAM));
    return simple ? take_iterations(simple->iter) : malformed();
  }
  if (encryption.kind() != NID_pbes2) return not_understood(encryption.object);
  const auto both = encryption.parameter_as<PBE2PARAM, PBE2PARAM_free>(ASN1_ITEM_rptr(PBE2PARAM));
  if (!both) return malformed();
  const Algorithm cipher(both->encryption);
  if (!is_known_cipher(cipher.kind())) return not_understood(cipher.object);
  const Algorithm derivation(both->keyfunc);
  if (derivation.kind() != NID_id_pbkdf2) return not_understood(derivation.object);
  const auto rounds =
      derivation.parameter_as<PBKDF2PARAM, PBKDF2PARAM_free>(ASN1_ITEM_rptr(PBKDF2PARAM));
  if (!rounds) return malformed();
  if (rounds->prf != nullptr) {
    const Algorithm hash(rounds->prf);
    if (!is_known_hash(hash.kind())) return not_understood(hash.object);
  }
  return take_iterations(rounds->iter);
}

Status PfxBudget::take_bags(int count) {
  if (count > bags_left_) return refused(fmt::format("holds more than {} bags.", kPfxBagsMax));
  bags_left_ -= count;
  return Done{};
}

Status check_key_kind(const PKCS8_PRIV_KEY_INFO* packed) {
  const X509_ALGOR* how = nullptr;
  PKCS8_pkey_get0(nullptr, nullptr, nullptr, &how, packed);
  const Algorithm key(how);
  if (key.kind() == NID_rsaEncryption) return Done{};
  const bool curve_is_named =
      key.kind() == NID_X9_62_id_ecPublicKey && key.parameter_type == V_ASN1_OBJECT;
  const auto* curve = curve_is_named ? static_cast<const ASN1_OBJECT*>(key.parameter) : nullptr;
  if (curve && is_one_of(OBJ_obj2nid(curve), {NID_X9_62_prime256v1, NID_secp384r1})) return Done{};
  return refused(
      fmt::format("holds a key of a kind that is not understood, '{}': it must be RSA, "
                  "P-256 or P-384.",
                  name_of(curve ? curve : key.object)));
}

// What is longer than it has to be makes a signature many times slower, and nothing safer.
Status check_key_parts(const EVP_PKEY* key) {
  if (EVP_PKEY_is_a(key, "RSA") != 1) return Done{};
  const int bits = EVP_PKEY_get_bits(key);
  if (bits > kPfxRsaBitsMax) {
    return refused(
        fmt::format("holds an RSA key of {} bits; at most {} are allowed.", bits, kPfxRsaBitsMax));
  }
  const Error odd = refused("holds an RSA key whose parts are not as long as they should be.");
  for (const char* part :
       {OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2, OSSL_PKEY_PARAM_RSA_EXPONENT1,
        OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1}) {
    const int part_bits = bits_of(key, part);
    if (part_bits == 0 || part_bits > (bits + 1) / 2) return odd;
  }
  if (bits_of(key, OSSL_PKEY_PARAM_RSA_FACTOR3) > 0) return odd;
  if (bits_of(key, OSSL_PKEY_PARAM_RSA_D) > bits) return odd;
  if (bits_of(key, OSSL_PKEY_PARAM_RSA_E) > kExponentBitsMax) return odd;
  return Done{};
}

}  // namespace belfry
