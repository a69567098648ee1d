// SPDX-License-Identifier: MIT
//
// For tests: an issuer's keys made on the spot, the set in which it publishes them, and tokens
// signed with them, as they should be or as no issuer would.

#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "access/jwks.h"
#include "base/base64.h"
#include "base/instant.h"

namespace belfry {

inline const Instant kTokenNow{std::chrono::sys_days{std::chrono::year{2026} / 1 / 1}};
inline const std::string kTestIssuer = "https://issuer.test/";

inline std::int64_t seconds_of(Instant instant) {
  return std::chrono::floor<Seconds>(instant.time_since_epoch()).count();
}

// Made once for a whole program: large numbers take their time.
class TestKey {
 public:
  static const TestKey& rsa() {
    static const TestKey key(EVP_RSA_gen(2048));
    return key;
  }
  static const TestKey& ec() {
    static const TestKey key(EVP_EC_gen("P-256"));
    return key;
  }
  explicit TestKey(EVP_PKEY* key) : key_(key, &EVP_PKEY_free) {}

  EVP_PKEY* get() const { return key_.get(); }
  bool is_rsa() const { return EVP_PKEY_get_base_id(get()) == EVP_PKEY_RSA; }

  // The members that a JWK has of it, without its kid.
  std::string members() const {
    if (is_rsa()) {
      return fmt::format(R"("kty":"RSA","n":"{}","e":"{}")", number(OSSL_PKEY_PARAM_RSA_N),
                         number(OSSL_PKEY_PARAM_RSA_E));
    }
    return fmt::format(R"("kty":"EC","crv":"P-256","x":"{}","y":"{}")",
                       number(OSSL_PKEY_PARAM_EC_PUB_X, 32), number(OSSL_PKEY_PARAM_EC_PUB_Y, 32));
  }

  std::string jwk(std::string_view kid) const {
    return fmt::format(R"({{"kid":"{}","use":"sig",{}}})", kid, members());
  }

  // In PEM, which attackers like to use as a secret that everybody knows.
  std::string public_der() const {
    unsigned char* der = nullptr;
    const int length = i2d_PUBKEY(get(), &der);
    std::string out(reinterpret_cast<char*>(der), static_cast<std::size_t>(length));
    OPENSSL_free(der);
    return out;
  }

  // PKCS #1 for RSA; for EC what OpenSSL makes, ASN.1.
  std::string der_signature(std::string_view text) const {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> digest(EVP_MD_CTX_new(),
                                                                         &EVP_MD_CTX_free);
    const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
    EXPECT_EQ(EVP_DigestSignInit(digest.get(), nullptr, EVP_sha256(), nullptr, get()), 1);
    std::size_t length = 0;
    EVP_DigestSign(digest.get(), nullptr, &length, bytes, text.size());
    std::string out(length, '\0');
    EXPECT_EQ(EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(out.data()), &length,
                             bytes, text.size()),
              1);
    out.resize(length);
    return out;
  }

  // As a token has it.
  std::string signature(std::string_view text) const {
    const std::string der = der_signature(text);
    if (is_rsa()) return der;
    const auto* begin = reinterpret_cast<const unsigned char*>(der.data());
    const std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)> numbers(
        d2i_ECDSA_SIG(nullptr, &begin, static_cast<long>(der.size())), &ECDSA_SIG_free);
    std::string out(64, '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(out.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(numbers.get()), bytes, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(numbers.get()), bytes + 32, 32);
    return out;
  }

 private:
  std::string number(const char* name, int width = 0) const {
    BIGNUM* found = nullptr;
    EXPECT_EQ(EVP_PKEY_get_bn_param(get(), name, &found), 1);
    const int length = std::max(width, BN_num_bytes(found));
    std::string bytes(static_cast<std::size_t>(length), '\0');
    BN_bn2binpad(found, reinterpret_cast<unsigned char*>(bytes.data()), length);
    BN_free(found);
    return base64url_of(bytes);
  }

  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_;
};

inline std::string jwks_text() {
  return fmt::format(R"({{"keys":[{},{}]}})", TestKey::rsa().jwk("rsa"), TestKey::ec().jwk("ec"));
}

inline std::string signing_input(std::string_view header, std::string_view payload) {
  return base64url_of(header) + '.' + base64url_of(payload);
}

inline std::string signed_with(const TestKey& key, std::string_view header,
                               std::string_view payload) {
  const std::string text = signing_input(header, payload);
  return text + '.' + base64url_of(key.signature(text));
}

inline const std::string kRsaHeader = R"({"alg":"RS256","typ":"JWT","kid":"rsa"})";
inline const std::string kEcHeader = R"({"alg":"ES256","typ":"at+jwt","kid":"ec"})";

// Good for an hour. `more` is put behind the other members; `without` is left out.
inline std::string claims_text(std::string_view more = "", std::string_view without = "") {
  std::string out;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (name != without) out += fmt::format(R"({}"{}":{})", out.empty() ? "" : ",", name, value);
  };
  add("iss", fmt::format(R"("{}")", kTestIssuer));
  add("aud", R"("https://belfry.test")");
  add("sub", R"("ringer")");
  add("tid", R"("tenant-1")");
  add("exp", std::to_string(seconds_of(kTokenNow) + 3600));
  return "{" + out + std::string(more) + "}";
}

inline std::string good_token() {
  return signed_with(TestKey::rsa(), kRsaHeader, claims_text());
}

}  // namespace belfry
