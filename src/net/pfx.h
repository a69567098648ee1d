// SPDX-License-Identifier: MIT
//
// Pfx is a client certificate with its private key and the chain above it, as PKCS #12 packs
// them. Old files are opened too: those that Windows wrote with RC2-40 and triple DES.

#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/certificate_facts.h"

namespace belfry {

class Pfx {
 public:
  // `base64` may have line breaks. The error's message is the end of a sentence about it, and
  // tells nothing of what is in it.
  static Result<Pfx> open(std::string_view base64, const std::string& password);

  CertificateFacts facts() const;

  // From now on the context shows this certificate to servers that ask for one.
  bool give_to(ssl_ctx_st* context) const;

 private:
  struct Free {
    void operator()(x509_st* certificate) const;
    void operator()(evp_pkey_st* key) const;
  };

  std::unique_ptr<x509_st, Free> certificate_;
  std::unique_ptr<evp_pkey_st, Free> key_;
  std::vector<std::unique_ptr<x509_st, Free>> chain_;
};

// A file may ask for as many rounds of hashing as it likes before it opens; not of us.
inline constexpr long kPfxIterationsMax = 100'000;

}  // namespace belfry
