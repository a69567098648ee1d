// SPDX-License-Identifier: MIT
//
// How a connection goes through a proxy: the target is checked as far as it can be, the
// proxy's own address is dialled, and for https it is asked for a tunnel. What the history is
// told of it does not name the proxy: it is the operator's business, not the job's.

#include <fmt/format.h>

#include "net/http_client_connection.h"
#include "net/http_client_origin.h"
#include "net/http_proxy.h"

namespace belfry {
namespace {

std::string tunnel_request(const HttpOrigin& origin, const HttpProxy& proxy) {
  const bool brackets = origin.host.find(':') != std::string::npos;
  const std::string authority =
      fmt::format("{}{}{}:{}", brackets ? "[" : "", origin.host, brackets ? "]" : "", origin.port);
  std::string request = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n", authority);
  if (!proxy.authorization.empty()) {
    request += fmt::format("Proxy-Authorization: {}\r\n", proxy.authorization);
  }
  return request + "\r\n";
}

}  // namespace

std::string refusal_by_proxy(int status) {
  if (status == 407) return "it wants credentials, or other ones (407)";
  return fmt::format("it answered {}", status);
}

void HttpClientConnection::dial_proxy() {
  const std::string& host = pool_.proxy()->host;
  if (const auto literal = IpAddress::parse(host)) return connect_to({*literal});
  resolve(host, Stage::resolving_proxy, limits().resolve_timeout);
}

void HttpClientConnection::open_tunnel() {
  enter(Stage::tunnelling, SteadyClock::now() + limits().tunnel_timeout);
  // Such an answer has no body, like one to HEAD; of a refusal the status is enough.
  reader_.emplace(limits(), HttpResponseReader::Answering::head);
  const auto request =
      std::make_shared<const std::string>(tunnel_request(pool_.origin(), *pool_.proxy()));
  stream_.async_write(*request, [self = shared_from_this(), request](Error, std::size_t) {
    self->read_tunnel_answer();  // which also tells of an error
  });
}

void HttpClientConnection::read_tunnel_answer() {
  if (stage_ != Stage::tunnelling) return;
  stream_.async_read_some(buffer_, [self = shared_from_this()](Error error, std::size_t count) {
    self->on_tunnel_answer(error, count);
  });
}

void HttpClientConnection::on_tunnel_answer(Error error, std::size_t count) {
  if (stage_ != Stage::tunnelling) return;
  if (error) return fail(HttpFailureKind::proxy_refused, "it closed the connection");
  switch (reader_->feed({buffer_.data(), count})) {
    case HttpResponseReader::Step::need_bytes:
      return read_tunnel_answer();
    case HttpResponseReader::Step::failed:
      return fail(HttpFailureKind::proxy_refused, "its answer is not HTTP");
    case HttpResponseReader::Step::complete:
      break;
  }
  const int status = reader_->take_reply().status;
  if (status / 100 != 2) return fail(HttpFailureKind::proxy_refused, refusal_by_proxy(status));
  shake_hands();
}

}  // namespace belfry
