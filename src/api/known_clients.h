// SPDX-License-Identifier: MIT
//
// KnownClients remembers whose credential was found to be good, so that a request too many is
// turned away by its head alone: without a worker, the store and its body. Nobody is let in for
// being remembered; who was wrong to be is found out by the gate, and forgotten.
//
// Credentials are kept as their SHA-256. Any thread may call.

#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "access/principal.h"
#include "base/recent.h"
#include "base/sha256.h"

namespace belfry {

class KnownClients {
 public:
  static constexpr std::size_t kKnownClientsMax = 10'000;

  struct Client {
    std::string key;                       // by which its requests are counted
    std::shared_ptr<const Principal> who;  // with what it may do; that ends with the credential
  };

  void remember(std::string_view credential, Client client) {
    const std::string hash = sha256_hex(credential);
    const std::lock_guard lock(mutex_);
    clients_.at(hash) = std::move(client);
  }

  void forget(std::string_view credential) {
    const std::string hash = sha256_hex(credential);
    const std::lock_guard lock(mutex_);
    clients_.erase(hash);
  }

  std::optional<Client> find(std::string_view credential) const {
    const std::string hash = sha256_hex(credential);
    const std::lock_guard lock(mutex_);
    const Client* known = clients_.peek(hash);
    return known == nullptr ? std::nullopt : std::optional(*known);
  }

 private:
  mutable std::mutex mutex_;
  Recent<Client> clients_{kKnownClientsMax};
};

}  // namespace belfry
