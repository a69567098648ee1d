// SPDX-License-Identifier: MIT
//
// HttpClientStream is a TCP socket, perhaps with TLS over it: the one place that knows which.
//
// Seen by net/http_client*.cpp only: it brings in Asio.

#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace belfry {

class HttpClientStream {
 public:
  using Error = boost::system::error_code;
  // The plain executor, not any_io_executor: it costs no indirection.
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                                  boost::asio::io_context::executor_type>;

  explicit HttpClientStream(boost::asio::io_context& context) : socket_(context) {}

  // A new attempt at another address begins with a new socket.
  template <typename Handler>
  void async_connect(const boost::asio::ip::tcp::endpoint& endpoint, Handler handler) {
    close();
    socket_.async_connect(endpoint, std::move(handler));
  }

  void set_up_connected() {
    Error ignored;
    socket_.set_option(boost::asio::ip::tcp::no_delay(true), ignored);
    socket_.non_blocking(true, ignored);
  }

  // Takes the session over.
  template <typename Handler>
  void async_handshake(SSL* session, Handler handler) {
    tls_.emplace(socket_, session);
    tls_->async_handshake(boost::asio::ssl::stream_base::client, std::move(handler));
  }

  const SSL* session() { return tls_->native_handle(); }

  template <typename Handler>
  void async_read_some(std::span<char> room, Handler handler) {
    const auto buffer = boost::asio::buffer(room.data(), room.size());
    if (tls_) return tls_->async_read_some(buffer, std::move(handler));
    socket_.async_read_some(buffer, std::move(handler));
  }

  // How much the kernel takes at once without TLS, which is mostly all: a request that fits
  // needs no turn of the loop. Errors show when the rest is written, or at the next read.
  std::size_t write_at_once(std::string_view bytes) {
    if (tls_) return 0;
    Error ignored;
    return socket_.write_some(boost::asio::buffer(bytes), ignored);
  }

  template <typename Handler>
  void async_write(std::string_view bytes, Handler handler) {
    const auto buffer = boost::asio::buffer(bytes);
    if (tls_) return boost::asio::async_write(*tls_, buffer, std::move(handler));
    boost::asio::async_write(socket_, buffer, std::move(handler));
  }

  void close() {
    Error ignored;
    socket_.close(ignored);
  }

 private:
  Socket socket_;
  std::optional<boost::asio::ssl::stream<Socket&>> tls_;
};

}  // namespace belfry
