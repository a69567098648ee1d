// SPDX-License-Identifier: MIT
//
// The bare rate of a well-known HTTP server library: Boost.Beast, one thread, keep-alive, always
// the same answer, as long as a job's. What Belfry's reads are measured against.
//
// beast_ceiling CONNECTIONS REQUESTS BYTES: prints how many a second, like `belfry bench`.

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "bench/load.h"

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const std::string& body) : socket_(std::move(socket)), body_(body) {
    socket_.set_option(tcp::no_delay(true));
  }

  void read() {
    request_ = {};
    http::async_read(socket_, buffer_, request_,
                     [self = shared_from_this()](beast::error_code error, std::size_t) {
                       if (!error) self->write();
                     });
  }

 private:
  void write() {
    response_ = {http::status::ok, request_.version()};
    response_.set(http::field::content_type, "application/json");
    response_.body() = body_;
    response_.prepare_payload();
    http::async_write(socket_, response_,
                      [self = shared_from_this()](beast::error_code error, std::size_t) {
                        if (!error) self->read();
                      });
  }

  tcp::socket socket_;
  const std::string& body_;
  beast::flat_buffer buffer_;
  http::request<http::string_body> request_;
  http::response<http::string_body> response_;
};

void accept(tcp::acceptor& acceptor, const std::string& body) {
  acceptor.async_accept([&](beast::error_code error, tcp::socket socket) {
    if (error) return;
    std::make_shared<Session>(std::move(socket), body)->read();
    accept(acceptor, body);
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string body(std::strtoul(argv[3], nullptr, 10), 'x');
  asio::io_context context(1);
  tcp::acceptor acceptor(context, {asio::ip::address_v4::loopback(), 0});
  accept(acceptor, body);
  std::thread thread([&] { context.run(); });
  const belfry::LoadResult result =
      belfry::run_load({.port = acceptor.local_endpoint().port(),
                        .connections = std::atoi(argv[1]),
                        .requests = std::atoll(argv[2]),
                        .duration = {}},
                       [](std::int64_t) { return belfry::request_text("GET", "/job", ""); });
  context.stop();
  thread.join();
  fmt::print("{:.0f}\n", result.per_second());
}
