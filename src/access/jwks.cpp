// SPDX-License-Identifier: MIT

#include "access/jwks.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <optional>

#include "access/jwt_json.h"
#include "base/base64.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr std::size_t kCoordinateBytes = 32;
constexpr std::size_t kExponentBytesMax = 4;  // what everybody has is 65537

using BigNumber = std::unique_ptr<BIGNUM, decltype(&BN_free)>;
using ParamBuilder = std::unique_ptr<OSSL_PARAM_BLD, decltype(&OSSL_PARAM_BLD_free)>;
using Params = std::unique_ptr<OSSL_PARAM, decltype(&OSSL_PARAM_free)>;
using KeyContext = std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)>;
using PublicKey = std::shared_ptr<EVP_PKEY>;

BigNumber number_of(const std::string& bytes) {
  return {BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes.data()),
                    static_cast<int>(bytes.size()), nullptr),
          &BN_free};
}

// None when OpenSSL finds that it is no sound key.
PublicKey key_from(const char* kind, const ParamBuilder& builder) {
  const Params params(OSSL_PARAM_BLD_to_param(builder.get()), &OSSL_PARAM_free);
  const KeyContext maker(EVP_PKEY_CTX_new_from_name(nullptr, kind, nullptr), &EVP_PKEY_CTX_free);
  EVP_PKEY* made = nullptr;
  const bool well = params && maker && EVP_PKEY_fromdata_init(maker.get()) == 1 &&
                    EVP_PKEY_fromdata(maker.get(), &made, EVP_PKEY_PUBLIC_KEY, params.get()) == 1;
  const PublicKey key(made, &EVP_PKEY_free);
  if (!well) return nullptr;
  const KeyContext checker(EVP_PKEY_CTX_new_from_pkey(nullptr, made, nullptr), &EVP_PKEY_CTX_free);
  if (!checker || EVP_PKEY_public_check(checker.get()) != 1) return nullptr;
  return key;
}

std::optional<std::string> bytes_member(const json::object& jwk, std::string_view name) {
  const auto text = text_member(jwk, name);
  if (!text) return std::nullopt;
  return base64url_decoded(*text);
}

PublicKey rsa_key(const json::object& jwk) {
  const auto modulus = bytes_member(jwk, "n");
  const auto exponent = bytes_member(jwk, "e");
  if (!modulus || !exponent) return nullptr;
  // Measured before any arithmetic is done with them.
  if (modulus->size() > kRsaBitsMax / 8 || exponent->size() > kExponentBytesMax) return nullptr;
  const BigNumber n = number_of(*modulus);
  const BigNumber e = number_of(*exponent);
  if (BN_num_bits(n.get()) < kRsaBitsMin) return nullptr;
  const ParamBuilder builder(OSSL_PARAM_BLD_new(), &OSSL_PARAM_BLD_free);
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, n.get());
  OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, e.get());
  return key_from("RSA", builder);
}

PublicKey ec_key(const json::object& jwk) {
  const auto x = bytes_member(jwk, "x");
  const auto y = bytes_member(jwk, "y");
  if (text_member(jwk, "crv") != "P-256" || !x || !y) return nullptr;
  if (x->size() != kCoordinateBytes || y->size() != kCoordinateBytes) return nullptr;
  const std::string point = '\x04' + *x + *y;  // uncompressed
  const ParamBuilder builder(OSSL_PARAM_BLD_new(), &OSSL_PARAM_BLD_free);
  OSSL_PARAM_BLD_push_utf8_string(builder.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0);
  OSSL_PARAM_BLD_push_octet_string(builder.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(),
                                   point.size());
  return key_from("EC", builder);
}

bool is_absent_or(const json::object& jwk, std::string_view name, std::string_view wanted) {
  return !jwk.contains(name) || text_member(jwk, name) == wanted;
}

std::optional<JwtKey> usable_key(const json::object& jwk) {
  if (!is_absent_or(jwk, "use", "sig")) return std::nullopt;
  JwtKey out;
  out.id = text_member(jwk, "kid").value_or("");
  const auto kind = text_member(jwk, "kty");
  if (kind == "RSA" && is_absent_or(jwk, "alg", "RS256")) {
    out.algorithm = JwtAlgorithm::rs256;
    out.key = rsa_key(jwk);
  } else if (kind == "EC" && is_absent_or(jwk, "alg", "ES256")) {
    out.algorithm = JwtAlgorithm::es256;
    out.key = ec_key(jwk);
  }
  ERR_clear_error();
  if (!out.key) return std::nullopt;
  return out;
}

Error not_keys(std::string why) {
  return {ErrorCode::invalid, std::move(why), {}};
}

}  // namespace

Result<JwtKeys> JwtKeys::parse(std::string_view text) {
  if (text.size() > kJwksBytesMax) return not_keys("the set of keys is too large");
  const auto set = parse_jwt_object(text);
  const json::value* listed = set ? set->if_contains("keys") : nullptr;
  if (listed == nullptr || !listed->is_array()) return not_keys("it is not a set of keys");
  const json::array& jwks = listed->get_array();
  if (jwks.size() > kJwksKeysMax) return not_keys("there are too many keys in the set");
  std::vector<JwtKey> keys;
  for (const json::value& jwk : jwks) {
    auto key = jwk.is_object() ? usable_key(jwk.get_object()) : std::nullopt;
    if (key) keys.push_back(*std::move(key));
  }
  if (keys.empty()) return not_keys("the set has no key for RS256 or ES256");
  return JwtKeys(std::move(keys));
}

const JwtKey* JwtKeys::find(std::string_view id) const {
  if (id.empty()) return keys_.size() == 1 ? &keys_.front() : nullptr;
  const auto found = std::ranges::find(keys_, id, &JwtKey::id);
  return found == keys_.end() ? nullptr : &*found;
}

}  // namespace belfry
