// SPDX-License-Identifier: MIT

#include "net/pfx.h"

#include <fmt/format.h>
#include <openssl/asn1.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <utility>

#include "base/base64.h"

namespace belfry {
namespace {

template <auto kFree>
struct FreeWith {
  template <typename T>
  void operator()(T* thing) const {
    kFree(thing);
  }
};
using Pkcs12Ptr = std::unique_ptr<PKCS12, FreeWith<PKCS12_free>>;
using X509Ptr = std::unique_ptr<X509, FreeWith<X509_free>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeWith<EVP_PKEY_free>>;

void free_certificates(STACK_OF(X509) * stack) {
  sk_X509_pop_free(stack, X509_free);
}
void free_bags(STACK_OF(PKCS12_SAFEBAG) * stack) {
  sk_PKCS12_SAFEBAG_pop_free(stack, PKCS12_SAFEBAG_free);
}
void free_safes(STACK_OF(PKCS7) * stack) {
  sk_PKCS7_pop_free(stack, PKCS7_free);
}
using CertificatesPtr = std::unique_ptr<STACK_OF(X509), FreeWith<free_certificates>>;
using BagsPtr = std::unique_ptr<STACK_OF(PKCS12_SAFEBAG), FreeWith<free_bags>>;
using SafesPtr = std::unique_ptr<STACK_OF(PKCS7), FreeWith<free_safes>>;

Error unusable(std::string why) {
  ERR_clear_error();
  return {ErrorCode::invalid, std::move(why), {}};
}

// The old ciphers live in a library context of their own, where nothing but old files meets
// them. It stays for as long as the process does.
OSSL_LIB_CTX* context_with_old_ciphers() {
  static OSSL_LIB_CTX* const context = [] {
    OSSL_LIB_CTX* made = OSSL_LIB_CTX_new();
    OSSL_PROVIDER_load(made, "default");
    OSSL_PROVIDER_load(made, "legacy");  // where it is missing, new files still open
    ERR_clear_error();
    return made;
  }();
  return context;
}

Pkcs12Ptr parsed(const std::string& der) {
  PKCS12* file = PKCS12_init_ex(NID_pkcs7_data, context_with_old_ciphers(), nullptr);
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  // On failure it frees what it was given.
  if (d2i_PKCS12(&file, &at, static_cast<long>(der.size())) == nullptr) return nullptr;
  return Pkcs12Ptr(file);
}

// How many rounds of hashing it would take to undo this encryption.
long iterations_of(const X509_ALGOR* how) {
  const ASN1_OBJECT* kind = nullptr;
  int parameter_type = 0;
  const void* parameter = nullptr;
  X509_ALGOR_get0(&kind, &parameter_type, &parameter, how);
  if (parameter_type != V_ASN1_SEQUENCE) return 0;
  const auto unpacked = [&](const ASN1_ITEM* as, const void* from) {
    return ASN1_item_unpack(static_cast<const ASN1_STRING*>(from), as);
  };
  const ASN1_INTEGER* rounds = nullptr;
  std::unique_ptr<PBEPARAM, FreeWith<PBEPARAM_free>> simple;
  std::unique_ptr<PBE2PARAM, FreeWith<PBE2PARAM_free>> modern;
  std::unique_ptr<PBKDF2PARAM, FreeWith<PBKDF2PARAM_free>> derivation;
  if (OBJ_obj2nid(kind) == NID_pbes2) {
    modern.reset(static_cast<PBE2PARAM*>(unpacked(ASN1_ITEM_rptr(PBE2PARAM), parameter)));
    if (!modern) return 0;
    X509_ALGOR_get0(&kind, &parameter_type, &parameter, modern->keyfunc);
    if (parameter_type != V_ASN1_SEQUENCE) return 0;
    derivation.reset(static_cast<PBKDF2PARAM*>(unpacked(ASN1_ITEM_rptr(PBKDF2PARAM), parameter)));
    if (derivation) rounds = derivation->iter;
  } else {
    simple.reset(static_cast<PBEPARAM*>(unpacked(ASN1_ITEM_rptr(PBEPARAM), parameter)));
    if (simple) rounds = simple->iter;
  }
  if (rounds == nullptr) return 0;
  const long count = ASN1_INTEGER_get(rounds);
  return count < 0 ? kPfxIterationsMax + 1 : count;  // -1: more than a long holds
}

bool bags_open_soon(const STACK_OF(PKCS12_SAFEBAG) * bags) {
  for (int i = 0; i < sk_PKCS12_SAFEBAG_num(bags); ++i) {
    const PKCS12_SAFEBAG* bag = sk_PKCS12_SAFEBAG_value(bags, i);
    if (PKCS12_SAFEBAG_get_nid(bag) != NID_pkcs8ShroudedKeyBag) continue;
    const X509_ALGOR* how = nullptr;
    X509_SIG_get0(PKCS12_SAFEBAG_get0_pkcs8(bag), &how, nullptr);
    if (iterations_of(how) > kPfxIterationsMax) return false;
  }
  return true;
}

bool safe_opens_soon(PKCS7* safe, const std::string& password) {
  BagsPtr bags;
  if (PKCS7_type_is_data(safe)) {
    bags.reset(PKCS12_unpack_p7data(safe));
  } else if (PKCS7_type_is_encrypted(safe)) {
    if (iterations_of(safe->d.encrypted->enc_data->algorithm) > kPfxIterationsMax) return false;
    bags.reset(PKCS12_unpack_p7encdata(safe, password.c_str(), static_cast<int>(password.size())));
  }
  return !bags || bags_open_soon(bags.get());
}

bool mac_is_soon_checked(const PKCS12* file) {
  const ASN1_INTEGER* rounds = nullptr;
  PKCS12_get0_mac(nullptr, nullptr, nullptr, &rounds, file);
  if (rounds == nullptr) return true;
  const long count = ASN1_INTEGER_get(rounds);
  return 0 <= count && count <= kPfxIterationsMax;
}

bool safes_open_soon(const PKCS12* file, const std::string& password) {
  const SafesPtr safes(PKCS12_unpack_authsafes(file));
  if (!safes) return true;  // nothing to open; PKCS12_parse will say so
  for (int i = 0; i < sk_PKCS7_num(safes.get()); ++i) {
    if (!safe_opens_soon(sk_PKCS7_value(safes.get(), i), password)) return false;
  }
  return true;
}

// The same key and certificate, in the context that TLS uses.
KeyPtr at_home(const EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int length = i2d_PrivateKey(key, &der);
  if (length <= 0) return nullptr;
  const unsigned char* at = der;
  KeyPtr copy(d2i_AutoPrivateKey(nullptr, &at, length));
  OPENSSL_clear_free(der, static_cast<std::size_t>(length));
  return copy;
}

X509Ptr at_home(const X509* certificate) {
  unsigned char* der = nullptr;
  const int length = i2d_X509(certificate, &der);
  if (length <= 0) return nullptr;
  const unsigned char* at = der;
  X509Ptr copy(d2i_X509(nullptr, &at, length));
  OPENSSL_free(der);
  return copy;
}

}  // namespace

void Pfx::Free::operator()(x509_st* certificate) const {
  X509_free(certificate);
}
void Pfx::Free::operator()(evp_pkey_st* key) const {
  EVP_PKEY_free(key);
}

Result<Pfx> Pfx::open(std::string_view base64, const std::string& password) {
  const auto der = base64_decoded(base64);
  if (!der) return unusable("is not base64.");
  const Pkcs12Ptr file = parsed(*der);
  if (!file) return unusable("is not a PFX (PKCS #12) file.");
  const std::string asks_too_much =
      fmt::format("takes more than {} iterations to open.", kPfxIterationsMax);
  if (!mac_is_soon_checked(file.get())) return unusable(asks_too_much);
  if (PKCS12_mac_present(file.get()) == 1 &&
      PKCS12_verify_mac(file.get(), password.c_str(), static_cast<int>(password.size())) != 1 &&
      !(password.empty() && PKCS12_verify_mac(file.get(), nullptr, 0) == 1)) {
    return unusable("cannot be opened with this password.");
  }
  if (!safes_open_soon(file.get(), password)) return unusable(asks_too_much);
  EVP_PKEY* key = nullptr;
  X509* certificate = nullptr;
  STACK_OF(X509)* others = nullptr;
  const int opened = PKCS12_parse(file.get(), password.c_str(), &key, &certificate, &others);
  const KeyPtr own_key(key);
  const X509Ptr own_certificate(certificate);
  const CertificatesPtr own_others(others);
  if (opened != 1) return unusable("cannot be opened with this password.");
  if (!own_key) return unusable("holds no private key.");
  if (!own_certificate) return unusable("holds no certificate for its private key.");
  Pfx pfx;
  pfx.certificate_.reset(at_home(own_certificate.get()).release());
  pfx.key_.reset(at_home(own_key.get()).release());
  for (int i = 0; own_others && i < sk_X509_num(own_others.get()); ++i) {
    pfx.chain_.emplace_back(at_home(sk_X509_value(own_others.get(), i)).release());
  }
  if (!pfx.certificate_ || !pfx.key_) return unusable("holds a key of an unknown kind.");
  ERR_clear_error();
  return pfx;
}

CertificateFacts Pfx::facts() const {
  return facts_of(certificate_.get());
}

bool Pfx::give_to(ssl_ctx_st* context) const {
  bool good = SSL_CTX_use_certificate(context, certificate_.get()) == 1 &&
              SSL_CTX_use_PrivateKey(context, key_.get()) == 1 &&
              SSL_CTX_check_private_key(context) == 1;
  for (const auto& above : chain_) {
    good = good && SSL_CTX_add1_chain_cert(context, above.get()) == 1;
  }
  ERR_clear_error();
  return good;
}

}  // namespace belfry
