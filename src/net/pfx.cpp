// SPDX-License-Identifier: MIT

#include "net/pfx.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <utility>

#include "base/base64.h"

namespace belfry {
namespace {

// What a kept text begins with. A colon is no letter of base64.
constexpr std::string_view kOpened = "opened:";
constexpr std::string_view kOpenedSlow = "opened-slow:";
constexpr std::string_view kRefused = "refused:";

// An RSA signature of 2,048 bits takes a fifth of a millisecond, one of 4,096 three.
constexpr int kQuickRsaBitsMax = 2048;

template <typename T>
void append_der(std::string& out, const T* thing, int (*encode)(const T*, unsigned char**)) {
  unsigned char* der = nullptr;
  const int length = encode(thing, &der);
  if (length <= 0) return;
  out.append(reinterpret_cast<const char*>(der), static_cast<std::size_t>(length));
  OPENSSL_clear_free(der, static_cast<std::size_t>(length));
}

Error unreadable() {
  ERR_clear_error();
  return {ErrorCode::internal, "was stored in a form that cannot be read.", {}};
}

}  // namespace

void Pfx::Free::operator()(x509_st* certificate) const {
  X509_free(certificate);
}
void Pfx::Free::operator()(evp_pkey_st* key) const {
  EVP_PKEY_free(key);
}

// One after the other: each says how long it is.
std::string Pfx::kept() const {
  std::string der;
  append_der(der, key_.get(), i2d_PrivateKey);
  append_der(der, certificate_.get(), i2d_X509);
  for (const auto& above : chain_) append_der(der, above.get(), i2d_X509);
  const bool slow =
      EVP_PKEY_is_a(key_.get(), "RSA") == 1 && EVP_PKEY_get_bits(key_.get()) > kQuickRsaBitsMax;
  std::string text(slow ? kOpenedSlow : kOpened);
  text += base64_of(der);
  OPENSSL_cleanse(der.data(), der.size());
  return text;
}

Result<Pfx> Pfx::read(std::string_view kept) {
  if (!is_kept_pfx(kept)) return unreadable();
  const std::string_view content = kept.substr(kept.find(':') + 1);
  if (is_refused_pfx(kept)) return Error{ErrorCode::invalid, std::string(content), {}};
  const auto der = base64_decoded(content);
  if (!der) return unreadable();
  const auto* at = reinterpret_cast<const unsigned char*>(der->data());
  const auto* end = at + der->size();
  Pfx pfx;
  pfx.key_.reset(d2i_AutoPrivateKey(nullptr, &at, end - at));
  pfx.certificate_.reset(d2i_X509(nullptr, &at, end - at));
  if (!pfx.key_ || !pfx.certificate_) return unreadable();
  while (at < end) {
    pfx.chain_.emplace_back(d2i_X509(nullptr, &at, end - at));
    if (!pfx.chain_.back()) return unreadable();
  }
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

std::string kept_refusal(const Error& error) {
  return std::string(kRefused) + error.message;
}

bool is_kept_pfx(std::string_view text) {
  return text.starts_with(kOpened) || signs_slowly(text) || is_refused_pfx(text);
}

bool is_refused_pfx(std::string_view kept) {
  return kept.starts_with(kRefused);
}

bool signs_slowly(std::string_view kept) {
  return kept.starts_with(kOpenedSlow);
}

}  // namespace belfry
