// SPDX-License-Identifier: MIT
//
// What a PFX file may ask of whoever opens it. A file names the work that it takes to open it,
// and whoever made it may want that to be as much as possible: so it is added up over the whole
// file, before it is done, and only work of known kinds counts as work at all.
//
// Every error's message is the end of a sentence about the file.

#pragma once

#include <openssl/pkcs12.h>

#include <cstddef>

#include "base/result.h"

namespace belfry {

// With these no file that is accepted takes longer to open than 25 ms on a machine of today: a job
// may bring two. `openssl pkcs12 -export` writes 6,144 iterations in all, Windows 6,000, keytool
// 30,000 since Java 17 (before that 200,000, which is too many), Python's cryptography 42,048.
inline constexpr long kPfxIterationsMax = 50'000;
inline constexpr std::size_t kPfxBytesMax = 12 * 1024;
inline constexpr int kPfxSafesMax = 8;
inline constexpr int kPfxBagsMax = 32;
inline constexpr int kPfxCertificatesMax = 8;
inline constexpr int kPfxRsaBitsMax = 4096;

// What is left for one file.
class PfxBudget {
 public:
  // Before anything is derived: the check of the whole, and each encryption.
  Status take_mac(const PKCS12* file);
  Status take_encryption(const X509_ALGOR* how);

  Status take_bags(int count);

 private:
  Status take_iterations(const ASN1_INTEGER* count);

  long iterations_left_ = kPfxIterationsMax;
  int bags_left_ = kPfxBagsMax;
};

// Before the key is made of it: whether it is one of those that TLS is spoken with here.
Status check_key_kind(const PKCS8_PRIV_KEY_INFO* packed);

// Whether signing with it takes as long as its size says, and no longer.
Status check_key_parts(const EVP_PKEY* key);

}  // namespace belfry
