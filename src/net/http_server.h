// SPDX-License-Identifier: MIT
//
// HttpServer accepts HTTP/1.1 connections on one address, over TLS where it is told who it is
// there, and gives each request to a handler.
// What is not a well-formed request, or goes beyond a limit, is answered here and never
// reaches the handler.
//
// The handler is called on an I/O thread, by several of them at once if there are several; it
// must not block nor throw. It may answer at once or later, from any thread, exactly once: a
// second answer is a mistake of ours and ends the process, a request whose Respond is dropped
// unanswered is answered 500. Answering is harmless when the client, or the server, is gone.
//
// The framing of an answer (Content-Length, Connection, Transfer-Encoding) is the server's. An
// answer whose headers set it, or could not be sent safely, is replaced by a 500.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/instant.h"
#include "base/result.h"
#include "net/http.h"
#include "net/http_server_limits.h"
#include "net/http_server_shares.h"

namespace belfry {

class TlsServer;

class HttpServer {
 public:
  using Respond = std::function<void(HttpResponse)>;
  using Handler = std::function<void(HttpRequest, Respond)>;
  // Called on an I/O thread when the head of a request has come and its body has not. An answer
  // is sent at once: the handler never sees the request, and its body is not kept.
  using AtHead = std::function<std::optional<HttpResponse>(const HttpRequest& head)>;
  // Makes the response for what the server refuses itself: status and what is wrong. Called on
  // an I/O thread; without one, the answer is plain text.
  using Refusal = std::function<HttpResponse(int status, const std::string& what)>;

  // Whose address HttpRequest::remote_address is. Behind a proxy it is the one that the proxy names
  // (forwarded_address.h); where it names none, the proxy's own.
  enum class RemoteAddress { of_connection, behind_proxy };

  struct Options {
    std::string host = "127.0.0.1";  // an IPv4 or IPv6 address, not a name
    std::uint16_t port = 0;          // 0: any free one; port() tells which
    int threads = 1;
    HttpServerLimits limits;
    HttpServerShares shares;
    RemoteAddress remote_address = RemoteAddress::of_connection;
    std::shared_ptr<const TlsServer> tls;  // none: plain HTTP
    Handler handler;
    AtHead at_head;  // none: the handler sees every request
    Refusal refusal;
    // Once no connection was refused by the kernel for so long, the log says that it is over.
    Millis refusals_over_after{60'000};
  };

  // Takes the address, which nobody else can have then; whoever asks there is refused until
  // serve().
  static Result<std::unique_ptr<HttpServer>> bind(Options options);
  // Listens, and takes connections.
  Status serve();
  // Both at once.
  static Result<std::unique_ptr<HttpServer>> start(Options options);
  ~HttpServer();  // closes everything at once; the handler is not called after it

  std::uint16_t port() const;
  std::size_t open_connections() const;

  // Stops accepting, closes idle connections, lets requests in progress finish (each answer
  // carries Connection: close), and returns when all are done or `grace` is over. Not to be
  // called by the handler.
  void drain(Millis grace);

 private:
  class Impl;
  explicit HttpServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace belfry
