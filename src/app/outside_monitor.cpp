// SPDX-License-Identifier: MIT

#include "app/outside_monitor.h"

#include <fmt/format.h>

#include "app/no_guard.h"
#include "app/version.h"
#include "base/assert.h"
#include "model/url.h"

namespace belfry {
namespace {

constexpr Millis kTimeout = std::chrono::seconds{30};
constexpr int kFirstSuccess = 200;
constexpr int kFirstRedirect = 300;

HttpCall call_to(const Url& url) {
  HttpCall call;
  call.origin = {url.https, url.host, url.port};
  call.method = "GET";
  call.target = url.target;
  call.authority = url.authority;
  call.headers = {{"User-Agent", std::string("Belfry/") + version_number()}};
  call.timeout = kTimeout;
  return call;
}

// The host too may be known to us alone.
std::string without_host(std::string text, const std::string& host) {
  for (std::size_t at = 0; (at = text.find(host, at)) != std::string::npos;) {
    text.replace(at, host.size(), "***");
  }
  return text;
}

std::string fault_in(const HttpResult& result, const std::string& host) {
  if (const auto* reply = std::get_if<HttpReply>(&result.what)) {
    const bool arrived = kFirstSuccess <= reply->status && reply->status < kFirstRedirect;
    return arrived ? "" : fmt::format("it was answered {}", reply->status);
  }
  const auto& failure = std::get<HttpFailure>(result.what);
  if (failure.kind == HttpFailureKind::timeout) return "it took too long";
  return failure.detail.empty() ? "no connection" : without_host(failure.detail, host);
}

}  // namespace

Result<std::unique_ptr<OutsideMonitor>> OutsideMonitor::start(const Secret& url,
                                                              HttpClient::Options http,
                                                              std::function<bool()> ready) {
  const auto address = parse_url(url.reveal());
  ASSERT(address);
  http.guard = no_guard();
  TRY_ASSIGN(auto client, HttpClient::start(std::move(http)));
  return std::unique_ptr<OutsideMonitor>(
      new OutsideMonitor(call_to(*address), std::move(client), std::move(ready)));
}

OutsideMonitor::OutsideMonitor(HttpCall call, std::unique_ptr<HttpClient> http,
                               std::function<bool()> ready)
    : call_(std::move(call)),
      calls_({[this](const HeartbeatCalls::Arrived& arrived) { send(arrived); }, std::move(ready),
              log}),
      http_(std::move(http)) {}

void OutsideMonitor::send(const HeartbeatCalls::Arrived& arrived) {
  const bool sent = http_->send(call_, [this, arrived](const HttpResult& result) {
    arrived(fault_in(result, call_.origin.host));
  });
  if (!sent) arrived("it cannot be sent");
}

}  // namespace belfry
