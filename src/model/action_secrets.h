// SPDX-License-Identifier: MIT
//
// Every secret of an action, each by its name: where it stands in the action's JSON. Under that
// name it is sealed, so the names never change. A new secret that is not here would be stored
// nowhere.

#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "model/action.h"

namespace belfry {

inline constexpr std::string_view kHeaderSecrets = "request.headers.";  // and the header's name

template <typename HttpLike, typename Each>
void visit_http_secrets(HttpLike& action, Each each) {
  for (auto& [name, value] : action.secret_headers) {
    each(std::string(kHeaderSecrets) + name, value);
  }
  if (!action.authentication) return;
  if (auto* basic = std::get_if<BasicAuthentication>(&*action.authentication)) {
    each(std::string("request.authentication.password"), basic->password);
  } else if (auto* certificate = std::get_if<ClientCertificate>(&*action.authentication)) {
    each(std::string("request.authentication.pfx"), certificate->pfx);
    each(std::string("request.authentication.password"), certificate->password);
  } else if (auto* oauth = std::get_if<ActiveDirectoryOAuth>(&*action.authentication)) {
    each(std::string("request.authentication.secret"), oauth->secret);
  }
}

// Calls each(name, secret).
template <typename ActionLike, typename Each>
void visit_secrets(ActionLike& action, Each each) {
  if (auto* http = std::get_if<HttpAction>(&action.what)) {
    visit_http_secrets(*http, each);
  } else if (auto* queue = std::get_if<StorageQueueAction>(&action.what)) {
    each(std::string("queueMessage.sasToken"), queue->sas_token);
  } else if (auto* bus_queue = std::get_if<ServiceBusQueueAction>(&action.what)) {
    each(std::string("serviceBusQueueMessage.authentication.sasKey"), bus_queue->message.sas_key);
  } else if (auto* topic = std::get_if<ServiceBusTopicAction>(&action.what)) {
    each(std::string("serviceBusTopicMessage.authentication.sasKey"), topic->message.sas_key);
  }
}

}  // namespace belfry
