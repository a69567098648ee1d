// SPDX-License-Identifier: MIT
//
// HttpServerStream is what a connection reads from and writes to: a TCP socket, perhaps with TLS
// over it; the one place that knows which. It must not be moved once the handshake has begun.
//
// Seen by net/*.cpp only: it brings in Asio.

#pragma once

#include <array>
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

// The plain executor, not any_io_executor: it costs no indirection.
using TcpSocket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;

class HttpServerStream {
 public:
  explicit HttpServerStream(TcpSocket socket) : socket_(std::move(socket)) {}

  // Takes the session over. `handler` is called with an error code.
  template <typename Handler>
  void async_handshake(SSL* session, Handler handler) {
    tls_.emplace(socket_, session);
    tls_->async_handshake(boost::asio::ssl::stream_base::server, std::move(handler));
  }

  // `handler` is called with an error code and the number of bytes.
  template <typename Handler>
  void async_read_some(std::span<char> room, Handler handler) {
    const auto buffer = boost::asio::buffer(room.data(), room.size());
    if (tls_) return tls_->async_read_some(buffer, std::move(handler));
    socket_.async_read_some(buffer, std::move(handler));
  }

  // Writes both, head first; without TLS with one system call where the kernel takes all.
  template <typename Handler>
  void async_write(std::string_view head, std::string_view body, Handler handler) {
    const std::array<boost::asio::const_buffer, 2> parts{boost::asio::buffer(head),
                                                         boost::asio::buffer(body)};
    if (tls_) return boost::asio::async_write(*tls_, parts, std::move(handler));
    boost::asio::async_write(socket_, parts, std::move(handler));
  }

  // Says that nothing more will be sent, in TLS's own words too. Then `handler` is called,
  // whatever the other side answered.
  template <typename Handler>
  void async_finish_sending(Handler handler) {
    if (!tls_) {
      shutdown_send();
      return handler();
    }
    tls_->async_shutdown([this, handler = std::move(handler)](boost::system::error_code) mutable {
      shutdown_send();
      handler();
    });
  }

  // What comes after that is of no interest, and not decrypted.
  template <typename Handler>
  void async_discard_some(std::span<char> room, Handler handler) {
    socket_.async_read_some(boost::asio::buffer(room.data(), room.size()), std::move(handler));
  }

  // What is being read or written ends with operation_aborted, unless it is already done.
  void cancel() {
    boost::system::error_code ignored;
    socket_.cancel(ignored);
  }

  // Bytes have come that nobody has read.
  bool has_bytes() {
    boost::system::error_code error;
    if (socket_.available(error) > 0 && !error) return true;
    if (!tls_) return false;
    SSL* session = tls_->native_handle();
    return SSL_has_pending(session) == 1 || BIO_ctrl_pending(SSL_get_rbio(session)) > 0;
  }

  void shutdown_send() {
    boost::system::error_code ignored;
    socket_.shutdown(TcpSocket::shutdown_send, ignored);
  }

  void close() {
    boost::system::error_code ignored;
    socket_.close(ignored);
  }

 private:
  TcpSocket socket_;
  std::optional<boost::asio::ssl::stream<TcpSocket&>> tls_;
};

}  // namespace belfry
