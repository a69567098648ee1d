// SPDX-License-Identifier: MIT
//
// Pfx is a client certificate with its private key and the chain above it. It comes as a file
// (PKCS #12; old ones too, that Windows wrote with RC2-40 and triple DES), and opening that takes
// a while, on purpose. So it is opened once, when it comes in, within bounds (net/pfx_bounds.h),
// and kept as another text, from which it is read in no time.

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

  // What is kept, a secret like the file. Of the same key and certificates it is the same text.
  std::string kept() const;
  static Result<Pfx> read(std::string_view kept);

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

  friend class PfxFile;
};

// What is kept of a file that did not open and cannot be asked for again: read() gives the error.
std::string kept_refusal(const Error& error);

// Without reading it: whether a text is one that is kept (a file in base64 never is), whether it is
// a refusal, and whether a signature with its key keeps a processor busy for milliseconds.
bool is_kept_pfx(std::string_view text);
bool is_refused_pfx(std::string_view kept);
bool signs_slowly(std::string_view kept);

}  // namespace belfry
