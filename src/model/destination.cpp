// SPDX-License-Identifier: MIT

#include "model/destination.h"

#include <fmt/format.h>

#include "model/key.h"
#include "model/url.h"

namespace belfry {
namespace {

struct DestinationOf {
  std::string operator()(const HttpAction& action) const {
    const auto url = parse_url(action.uri);
    if (!url) return action.uri;
    const std::string origin =
        fmt::format("{}://{}:{}", url->https ? "https" : "http", url->host, url->port);
    const auto* oauth = action.authentication
                            ? std::get_if<ActiveDirectoryOAuth>(&*action.authentication)
                            : nullptr;
    if (oauth == nullptr) return origin;
    return fmt::format("{} with tokens of {} for {}", origin, percent_encoded(oauth->tenant),
                       percent_encoded(oauth->audience));
  }
  std::string operator()(const StorageQueueAction& action) const {
    return "the storage account " + folded(action.storage_account);
  }
  std::string operator()(const ServiceBusQueueAction& action) const {
    return of_namespace(action.message);
  }
  std::string operator()(const ServiceBusTopicAction& action) const {
    return of_namespace(action.message);
  }

  static std::string of_namespace(const ServiceBusMessage& message) {
    return "the Service Bus namespace " + folded(message.service_namespace);
  }
};

}  // namespace

std::string destination_of(const Action& action) {
  return std::visit(DestinationOf{}, action.what);
}

}  // namespace belfry
