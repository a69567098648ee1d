// SPDX-License-Identifier: MIT
//
// ClientIdentities keeps the client certificates of jobs ready for TLS: each is read once, and
// calls that show the same certificate share its connections.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/result.h"
#include "model/action.h"
#include "net/tls_client.h"

namespace belfry {

class ClientIdentities {
 public:
  // `anybody` says whom to trust.
  explicit ClientIdentities(std::shared_ptr<const TlsClient> anybody)
      : anybody_(std::move(anybody)) {}

  // Of one that is kept (net/pfx.h), for a file is not opened here. An error's message is a
  // sentence for the history, without its full stop.
  Result<std::shared_ptr<const TlsClient>> of(const ClientCertificate& certificate);

  static constexpr std::size_t kKeptMax = 1'000;

 private:
  const std::shared_ptr<const TlsClient> anybody_;
  std::unordered_map<std::string, std::shared_ptr<const TlsClient>>
      kept_;  // by what is kept of the pfx
};

}  // namespace belfry
