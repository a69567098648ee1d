// SPDX-License-Identifier: MIT

#include "app/renewal.h"

#include "base/log.h"

namespace belfry {

void renew_certificate(TlsServer& tls) {
  const auto renewed = tls.renew_if_changed();
  if (!renewed) {
    log(LogLevel::error, "the new certificate cannot be used, the old one stays",
        {{"reason", renewed.error().message}});
  } else if (*renewed) {
    log(LogLevel::info, "the certificate was renewed");
  }
}

void KeyRenewal::look() {
  const auto renewed = store_.renew_keys();
  if (renewed && *renewed) log(LogLevel::info, "a new key seals secrets from now on");
  const std::string fault = renewed ? "" : renewed.error().message;
  if (!fault.empty() && fault != said_) {
    log(LogLevel::error, "the key file cannot be used, the keys stay as they were",
        {{"reason", fault}});
  }
  said_ = fault;
}

}  // namespace belfry
