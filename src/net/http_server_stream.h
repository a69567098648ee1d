// SPDX-License-Identifier: MIT
//
// HttpServerStream is what a connection reads from and writes to: the one place that knows that it
// is a TCP socket. TLS belongs here and nowhere else: a variant of this socket and one wrapped
// in TLS, with a handshake before the first read.
//
// Seen by net/*.cpp only: it brings in Asio.

#pragma once

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
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

  // `handler` is called with an error code and the number of bytes.
  template <typename Handler>
  void async_read_some(std::span<char> room, Handler handler) {
    socket_.async_read_some(boost::asio::buffer(room.data(), room.size()), std::move(handler));
  }

  // Writes both, head first, with one system call where the kernel takes all.
  template <typename Handler>
  void async_write(std::string_view head, std::string_view body, Handler handler) {
    const std::array<boost::asio::const_buffer, 2> parts{boost::asio::buffer(head),
                                                         boost::asio::buffer(body)};
    boost::asio::async_write(socket_, parts, std::move(handler));
  }

  // What is being read or written ends with operation_aborted, unless it is already done.
  void cancel() {
    boost::system::error_code ignored;
    socket_.cancel(ignored);
  }

  // Bytes have come that nobody has read.
  bool has_bytes() const {
    boost::system::error_code error;
    return socket_.available(error) > 0 && !error;
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
};

}  // namespace belfry
