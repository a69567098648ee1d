// SPDX-License-Identifier: MIT
//
// What a certificate says of itself, as the live service showed it.

#pragma once

#include <openssl/types.h>

#include <string>

#include "base/instant.h"

namespace belfry {

struct CertificateFacts {
  std::string thumbprint;  // SHA-1, forty upper-case digits
  Instant expiration;
  std::string subject_name;  // in Windows' order and spelling: "CN=api, O=Contoso, S=Ohio, C=US"

  bool operator==(const CertificateFacts&) const = default;
};

CertificateFacts facts_of(const x509_st* certificate);

}  // namespace belfry
