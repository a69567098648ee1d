// SPDX-License-Identifier: MIT

#include "app/remote.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <future>

#include "api/gate.h"
#include "app/no_guard.h"
#include "model/url.h"
#include "net/http_client.h"
#include "wire/json.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr int kFirstRefusal = 400;

Error cannot(const Remote& remote, std::string_view why) {
  return {ErrorCode::unavailable, fmt::format("cannot ask {}: {}.", remote.server, why), {}};
}

Result<HttpCall> call_of(const Remote& remote, const RemoteRequest& request) {
  const auto url = parse_url(remote.server);
  if (!url || url->target != "/") {
    return Error{ErrorCode::invalid,
                 fmt::format("the server must be an address such as https://belfry.example:7070; "
                             "it is '{}'.",
                             remote.server),
                 "server"};
  }
  if (!url->https && !remote.token.empty() && !is_loopback_authority(url->authority)) {
    return cannot(remote, "a token is not sent over plain http to another machine; use https");
  }
  HttpCall call;
  call.origin = {url->https, url->host, url->port};
  call.method = request.method;
  call.target = request.target;
  call.authority = url->authority;
  call.headers = {{"Accept", "application/json"}};
  if (!remote.token.empty()) {
    call.headers.emplace_back("Authorization", "Bearer " + remote.token.reveal());
  }
  call.body = request.body;
  call.body_kept_bytes_max = kRemoteAnswerBytesMax;
  return call;
}

Result<HttpReply> exchange(const Remote& remote, HttpCall call) {
  HttpClient::Options options;
  options.guard = no_guard();
  options.limits.body_bytes_max = kRemoteAnswerBytesMax;
  TRY_ASSIGN(options.tls, TlsClient::make({.extra_ca_file = remote.ca_file}));
  std::promise<HttpResult> promise;  // outlives the client, whose thread fulfils it
  auto answered = promise.get_future();
  TRY_ASSIGN(const auto client, HttpClient::start(std::move(options)));
  const bool sent = client->send(
      std::move(call), [&promise](HttpResult result) { promise.set_value(std::move(result)); });
  if (!sent) return cannot(remote, "the request is too large");
  HttpResult result = answered.get();
  if (auto* reply = std::get_if<HttpReply>(&result.what)) return std::move(*reply);
  const auto* failure = std::get_if<HttpFailure>(&result.what);
  if (failure != nullptr && failure->kind == HttpFailureKind::tls_trust) {
    return cannot(remote, fmt::format("{}. --ca-file or BELFRY_CA_FILE names an authority to "
                                      "trust besides the system's",
                                      failure->detail));
  }
  const bool told = failure != nullptr && !failure->detail.empty();
  return cannot(remote, fmt::format("{}. Is it running? --server or BELFRY_SERVER says where it is",
                                    told ? failure->detail : "it did not answer"));
}

std::string member(const json::value& value, std::string_view name) {
  const auto* found = value.is_object() ? value.get_object().if_contains(name) : nullptr;
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

// The faults besides the one that the message tells of, one a line.
std::string others(const json::value& error) {
  const auto* details = error.get_object().if_contains("details");
  if (details == nullptr || !details->is_array()) return "";
  std::string lines;
  for (std::size_t i = 1; i < details->get_array().size(); ++i) {
    const json::value& fault = details->get_array()[i];
    lines += fmt::format("\n  {}: {}", member(fault, "target"), member(fault, "message"));
  }
  return lines;
}

// Why a server is not ready.
std::string sentence_of(const json::array& reasons) {
  std::string sentence;
  for (const json::value& reason : reasons) {
    if (!reason.is_string()) continue;
    sentence += (sentence.empty() ? "" : "; ") + std::string(reason.get_string());
  }
  return sentence;
}

std::string sentence_of(const HttpReply& reply) {
  const auto body = parse_json(reply.body, JsonDialect::own);
  if (const auto* object = body ? body->if_object() : nullptr) {
    const auto* error = object->if_contains("error");
    const auto* message =
        error && error->is_object() ? error->get_object().if_contains("message") : nullptr;
    if (message && message->is_string()) return std::string(message->get_string()) + others(*error);
    const auto* reasons = object->if_contains("reasons");
    if (reasons && reasons->is_array()) return sentence_of(reasons->get_array());
  }
  return "there was no reason";
}

// The server speaks of a header; what is to be set here has another name.
std::string_view advice_on(const HttpReply& reply) {
  constexpr int kUnauthorized = 401;
  return reply.status == kUnauthorized ? " BELFRY_TOKEN or --token says who asks." : "";
}

}  // namespace

Result<RemoteAnswer> ask(const Remote& remote, const RemoteRequest& request) {
  TRY_ASSIGN(HttpCall call, call_of(remote, request));
  TRY_ASSIGN(const HttpReply reply, exchange(remote, std::move(call)));
  if (reply.status >= kFirstRefusal) {
    return Error{ErrorCode::conflict,
                 fmt::format("{} answered {}: {}{}", remote.server, reply.status,
                             sentence_of(reply), advice_on(reply)),
                 {}};
  }
  if (reply.body_cut) return cannot(remote, "its answer is too large");
  RemoteAnswer answer;
  answer.ignored = reply.header("x-belfry-ignored");
  if (reply.body.empty()) return answer;
  TRY_ASSIGN(answer.body, parse_json(reply.body, JsonDialect::own));
  return answer;
}

}  // namespace belfry
