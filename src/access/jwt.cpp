// SPDX-License-Identifier: MIT

#include "access/jwt.h"

#include <openssl/bn.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <boost/json/value.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "access/jwt_json.h"
#include "base/ascii.h"
#include "base/base64.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr std::size_t kEs256SignatureBytes = 64;

Error refused(std::string reason) {
  return {ErrorCode::unauthenticated, std::move(reason), {}};
}

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

using Parts = std::array<std::string_view, 3>;

std::optional<Parts> parts_of(std::string_view token) {
  if (std::count(token.begin(), token.end(), '.') != 2) return std::nullopt;
  const std::size_t first = token.find('.');
  const std::size_t second = token.rfind('.');
  return Parts{token.substr(0, first), token.substr(first + 1, second - first - 1),
               token.substr(second + 1)};
}

bool is_type_of_bearer_tokens(std::string_view type) {
  return equal_ignoring_case(type, "jwt") || equal_ignoring_case(type, "at+jwt") ||
         equal_ignoring_case(type, "application/at+jwt");
}

Status read_header(const json::object& header, Jwt& out) {
  const auto algorithm = text_member(header, "alg");
  if (algorithm == "RS256") {
    out.algorithm = JwtAlgorithm::rs256;
  } else if (algorithm == "ES256") {
    out.algorithm = JwtAlgorithm::es256;
  } else {
    return refused("the algorithm is neither RS256 nor ES256");
  }
  if (header.contains("crit")) return refused("the header has critical extensions");
  if (header.contains("typ")) {
    const auto type = text_member(header, "typ");
    if (!type || !is_type_of_bearer_tokens(*type)) return refused("it is a token of another type");
  }
  if (!header.contains("kid")) return Done{};
  const auto key_id = text_member(header, "kid");
  if (!key_id || key_id->empty() || key_id->size() > kJwtKeyIdBytesMax) {
    return refused("the key's id is not a text of a sensible length");
  }
  out.key_id = *key_id;
  return Done{};
}

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

using EcdsaSignature = std::unique_ptr<ECDSA_SIG, decltype(&ECDSA_SIG_free)>;

// OpenSSL takes them in ASN.1, a token has two numbers of fixed length.
std::optional<std::string> as_der(const std::string& signature) {
  if (signature.size() != kEs256SignatureBytes) return std::nullopt;
  constexpr int kHalf = kEs256SignatureBytes / 2;
  const EcdsaSignature numbers(ECDSA_SIG_new(), &ECDSA_SIG_free);
  BIGNUM* r = BN_bin2bn(bytes_of(signature), kHalf, nullptr);
  BIGNUM* s = BN_bin2bn(bytes_of(signature) + kHalf, kHalf, nullptr);
  ECDSA_SIG_set0(numbers.get(), r, s);  // owns them now
  if (BN_is_zero(r) || BN_is_zero(s)) return std::nullopt;
  std::string der(static_cast<std::size_t>(i2d_ECDSA_SIG(numbers.get(), nullptr)), '\0');
  auto* end = reinterpret_cast<unsigned char*>(der.data());
  i2d_ECDSA_SIG(numbers.get(), &end);
  return der;
}

using Digest = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

bool signature_fits(const Jwt& token, const JwtKey& key) {
  const std::optional<std::string> signature =
      key.algorithm == JwtAlgorithm::es256 ? as_der(token.signature) : token.signature;
  if (!signature) return false;
  const Digest digest(EVP_MD_CTX_new(), &EVP_MD_CTX_free);
  const bool fits =
      EVP_DigestVerifyInit(digest.get(), nullptr, EVP_sha256(), nullptr, key.key.get()) == 1 &&
      EVP_DigestVerify(digest.get(), bytes_of(*signature), signature->size(),
                       bytes_of(token.signed_text), token.signed_text.size()) == 1;
  ERR_clear_error();
  return fits;
}

// Whole seconds since 1970. The standard allows fractions, no issuer writes them, and a number
// that a double holds is one that two readers may round differently.
std::optional<Instant> instant_of(const json::value& value) {
  if (!value.is_int64()) return std::nullopt;
  const Seconds seconds{value.get_int64()};
  constexpr Seconds kLast = std::chrono::floor<Seconds>(kLastInstant.time_since_epoch());
  if (seconds < Seconds{0} || seconds > kLast) return std::nullopt;
  return Instant{seconds};
}

Status check_times(const json::object& claims, Instant now, Instant& expires) {
  const json::value* exp = claims.if_contains("exp");
  if (exp == nullptr) return refused("it has no exp");
  const auto end = instant_of(*exp);
  if (!end) return refused("exp is not a time");
  if (now >= *end + kJwtLeeway) return refused("it has expired");
  expires = *end;
  const json::value* nbf = claims.if_contains("nbf");
  if (nbf == nullptr) return Done{};
  const auto begin = instant_of(*nbf);
  if (!begin) return refused("nbf is not a time");
  if (now + kJwtLeeway < *begin) return refused("it is not valid yet");
  return Done{};
}

// A text, or a list of texts and of nothing else.
std::optional<std::vector<std::string>> audiences_of(const json::object& claims) {
  const json::value* aud = claims.if_contains("aud");
  if (aud == nullptr) return std::nullopt;
  if (aud->is_string()) return std::vector{std::string(aud->get_string())};
  if (!aud->is_array()) return std::nullopt;
  std::vector<std::string> out;
  for (const json::value& value : aud->get_array()) {
    if (!value.is_string()) return std::nullopt;
    out.emplace_back(value.get_string());
  }
  return out;
}

Status check_purpose(const json::object& claims, const JwtRules& rules) {
  if (text_member(claims, "iss") != rules.issuer) return refused("it is of another issuer");
  const auto audiences = audiences_of(claims);
  if (!audiences) return refused("aud is neither a text nor a list of texts");
  if (std::ranges::find_first_of(*audiences, rules.audiences) == audiences->end()) {
    return refused("it is meant for another audience");
  }
  if (!rules.tenant.empty() && text_member(claims, "tid") != rules.tenant) {
    return refused("it is of another tenant");
  }
  return Done{};
}

void keep_text(const std::string& name, const json::value& value, Claims& out) {
  if (!value.is_string()) return;
  std::string text(value.get_string());
  if (!has_control_characters(text)) out.texts[name].push_back(std::move(text));
}

void keep_texts(const std::string& name, const json::value& value, Claims& out) {
  if (value.is_array()) {
    for (const json::value& element : value.get_array()) keep_text(name, element, out);
  } else {
    keep_text(name, value, out);
  }
}

// Depth is bounded by the parser.
void keep_members(const std::string& prefix, const json::object& object, Claims& out) {
  for (const auto& [key, value] : object) {
    const std::string name = prefix + std::string(key.data(), key.size());
    if (value.is_object()) {
      keep_members(name + ".", value.get_object(), out);
    } else {
      keep_texts(name, value, out);
    }
  }
}

}  // namespace

Result<Jwt> read_jwt(std::string_view token) {
  if (token.size() > kJwtBytesMax) return refused("it is too large");
  const auto parts = parts_of(token);
  if (!parts) return refused("it does not have three parts");
  const auto header = base64url_decoded((*parts)[0]);
  auto payload = base64url_decoded((*parts)[1]);
  auto signature = base64url_decoded((*parts)[2]);
  if (!header || !payload || !signature) return refused("a part is not base64url");
  const auto members = parse_jwt_object(*header);
  if (!members) return refused("the header is not an object of JSON");
  Jwt out;
  if (const auto well = read_header(*members, out); !well) return well.error();
  out.signed_text = token.substr(0, token.rfind('.'));
  out.payload = *std::move(payload);
  out.signature = *std::move(signature);
  return out;
}

std::optional<std::string> claimed_issuer(const Jwt& token) {
  const auto claims = parse_jwt_object(token.payload);
  return claims ? text_member(*claims, "iss") : std::nullopt;
}

bool Claims::has(std::string_view claim, std::string_view value) const {
  const auto found = texts.find(claim);
  return found != texts.end() && std::ranges::find(found->second, value) != found->second.end();
}

Result<Claims> verify_jwt(const Jwt& token, const JwtKeys& keys, const JwtRules& rules,
                          Instant now) {
  const JwtKey* key = keys.find(token.key_id);
  if (key == nullptr) return refused("the issuer has no such key");
  if (key->algorithm != token.algorithm) return refused("the key is not for this algorithm");
  if (!signature_fits(token, *key)) return refused("the signature does not fit");
  const auto claims = parse_jwt_object(token.payload);
  if (!claims) return refused("the claims are not an object of JSON");
  Claims out;
  if (const auto well = check_purpose(*claims, rules); !well) return well.error();
  if (const auto well = check_times(*claims, now, out.expires); !well) return well.error();
  const auto subject = text_member(*claims, "sub");
  if (!subject || subject->empty() || subject->size() > kJwtSubjectBytesMax ||
      has_control_characters(*subject)) {
    return refused("sub is not a text of a sensible length");
  }
  out.issuer = rules.issuer;
  out.subject = *subject;
  keep_members("", *claims, out);
  return out;
}

}  // namespace belfry
