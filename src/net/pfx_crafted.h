// SPDX-License-Identifier: MIT
//
// For tests: PFX files that ask for whatever their maker likes.

#pragma once

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pkcs12.h>

#include <cstdint>
#include <map>
#include <string>

#include "base/base64.h"
#include "net/tls_client_test_certificates.h"

namespace belfry {

// Puts a file together part by part. What it holds is encrypted with the password "x".
class CraftedPfx {
 public:
  CraftedPfx() : safes_(sk_PKCS7_new_null()) {}
  ~CraftedPfx() { sk_PKCS7_pop_free(safes_, PKCS7_free); }
  CraftedPfx(const CraftedPfx&) = delete;
  CraftedPfx& operator=(const CraftedPfx&) = delete;

  // A safe that is not encrypted, with these certificates.
  CraftedPfx& certificates(const Identity& identity, int count = 1) {
    auto* bags = sk_PKCS12_SAFEBAG_new_null();
    for (int i = 0; i < count; ++i) PKCS12_add_cert(&bags, identity.certificate.get());
    return safe(bags);
  }

  CraftedPfx& key(EVP_PKEY* key) {
    auto* bags = sk_PKCS12_SAFEBAG_new_null();
    PKCS12_SAFEBAG* bag = PKCS12_SAFEBAG_create0_p8inf(EVP_PKEY2PKCS8(key));
    sk_PKCS12_SAFEBAG_push(bags, bag);
    return safe(bags);
  }

  // The key is encrypted as `how` says, or only says: nothing is derived for it.
  CraftedPfx& shrouded_key(EVP_PKEY* key, X509_ALGOR* how) {
    PKCS8_PRIV_KEY_INFO* plain = EVP_PKEY2PKCS8(key);
    X509_SIG* shrouded = PKCS8_encrypt(NID_pbe_WithSHA1And3_Key_TripleDES_CBC, nullptr, "x", 1,
                                       nullptr, 0, 1, plain);
    PKCS8_PRIV_KEY_INFO_free(plain);
    X509_ALGOR* algorithm = nullptr;
    X509_SIG_getm(shrouded, &algorithm, nullptr);
    X509_ALGOR_copy(algorithm, how);
    X509_ALGOR_free(how);
    auto* bags = sk_PKCS12_SAFEBAG_new_null();
    sk_PKCS12_SAFEBAG_push(bags, PKCS12_SAFEBAG_create0_pkcs8(shrouded));
    return safe(bags);
  }

  // Certificates again, encrypted with so many iterations.
  CraftedPfx& encrypted_safe(const Identity& identity, int iterations) {
    auto* bags = sk_PKCS12_SAFEBAG_new_null();
    PKCS12_add_cert(&bags, identity.certificate.get());
    PKCS12_add_safe(&safes_, bags, NID_pbe_WithSHA1And3_Key_TripleDES_CBC, iterations, "x");
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
    return *this;
  }

  // Empty: no check of the whole.
  std::string base64(int mac_iterations = 0, const EVP_MD* digest = EVP_sha256()) const {
    PKCS12* file = PKCS12_add_safes(safes_, 0);
    if (mac_iterations > 0) PKCS12_set_mac(file, "x", 1, nullptr, 0, mac_iterations, digest);
    unsigned char* der = nullptr;
    const int length = i2d_PKCS12(file, &der);
    std::string text =
        base64_of({reinterpret_cast<const char*>(der), static_cast<std::size_t>(length)});
    OPENSSL_free(der);
    PKCS12_free(file);
    return text;
  }

 private:
  CraftedPfx& safe(STACK_OF(PKCS12_SAFEBAG) * bags) {
    PKCS12_add_safe(&safes_, bags, /*nid_safe=*/-1, 0, nullptr);
    sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
    return *this;
  }

  STACK_OF(PKCS7) * safes_;
};

// How a key can be said to be encrypted.
inline X509_ALGOR* by_scrypt(std::uint64_t cost) {
  return PKCS5_pbe2_set_scrypt(EVP_aes_256_cbc(), nullptr, 0, nullptr, cost, 8, 1);
}
inline X509_ALGOR* by_pbkdf2(int iterations, int hash = NID_hmacWithSHA256,
                             const EVP_CIPHER* cipher = EVP_aes_256_cbc()) {
  return PKCS5_pbe2_set_iv(cipher, iterations, nullptr, 0, nullptr, hash);
}
inline X509_ALGOR* by_simple(int kind, int iterations) {
  return PKCS5_pbe_set(kind, iterations, nullptr, 0);
}

// An RSA key by its looks: of that size, and its parts as long as they should be or as long as is
// said. It can sign nothing.
inline KeyPtr rsa_of_size(int bits, const std::map<std::string, int>& other_bits = {}) {
  const std::map<std::string, int> usual = {
      {OSSL_PKEY_PARAM_RSA_N, bits},
      {OSSL_PKEY_PARAM_RSA_E, 17},
      {OSSL_PKEY_PARAM_RSA_D, bits},
      {OSSL_PKEY_PARAM_RSA_FACTOR1, bits / 2},
      {OSSL_PKEY_PARAM_RSA_FACTOR2, bits / 2},
      {OSSL_PKEY_PARAM_RSA_EXPONENT1, bits / 2},
      {OSSL_PKEY_PARAM_RSA_EXPONENT2, bits / 2},
      {OSSL_PKEY_PARAM_RSA_COEFFICIENT1, bits / 2},
  };
  OSSL_PARAM_BLD* parts = OSSL_PARAM_BLD_new();
  std::vector<BIGNUM*> numbers;
  for (const auto& [name, length] : usual) {
    const auto other = other_bits.find(name);
    numbers.push_back(BN_new());
    BN_set_bit(numbers.back(), (other == other_bits.end() ? length : other->second) - 1);
    BN_add_word(numbers.back(), 1);
    OSSL_PARAM_BLD_push_BN(parts, name.c_str(), numbers.back());
  }
  OSSL_PARAM* all = OSSL_PARAM_BLD_to_param(parts);
  EVP_PKEY_CTX* context = EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr);
  EVP_PKEY* key = nullptr;
  EXPECT_EQ(EVP_PKEY_fromdata_init(context), 1);
  EXPECT_EQ(EVP_PKEY_fromdata(context, &key, EVP_PKEY_KEYPAIR, all), 1);
  EVP_PKEY_CTX_free(context);
  OSSL_PARAM_free(all);
  OSSL_PARAM_BLD_free(parts);
  for (BIGNUM* number : numbers) BN_free(number);
  return KeyPtr(key);
}

}  // namespace belfry
