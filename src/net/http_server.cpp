// SPDX-License-Identifier: MIT
#include "net/http_server.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <latch>
#include <thread>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/log.h"
#include "base/short_slices.h"
#include "base/thread_name.h"
#include "net/http_server_loop.h"

namespace belfry {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Connections beyond the limit that may be told so at one time; those beyond them as well are
// closed without a word.
constexpr std::size_t kTurnedAwayMax = 64;

// After an error of accept() that nobody could be closed for. The connection stays in the kernel's
// queue, so that trying again at once would only burn the processor.
constexpr Millis kAcceptPause{50};

// An IPv4 client of an IPv6 socket is known by its IPv4 address.
std::string text_of(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

bool lacks_files(boost::system::error_code error) {
  return error == asio::error::no_descriptors ||
         error == boost::system::errc::too_many_files_open_in_system;
}

std::vector<std::shared_ptr<HttpServerLoop>> make_loops(HttpServing& serving) {
  std::vector<std::shared_ptr<HttpServerLoop>> loops;
  for (int i = 0; i < serving.options.threads; ++i) {
    loops.push_back(std::make_shared<HttpServerLoop>(serving));
  }
  return loops;
}

Error cannot_start(const std::exception& exception) {
  return {ErrorCode::unavailable, std::string("The HTTP server cannot start: ") + exception.what(),
          ""};
}

}  // namespace

// Accepts on the first loop's thread and spreads the connections over all loops in turn.
class HttpServer::Impl {
 public:
  explicit Impl(Options options);
  ~Impl();

  Status bind();
  Status serve();
  void drain(Millis grace);
  std::uint16_t port() const { return port_; }
  std::size_t open_connections() const { return serving_.open.count(); }

 private:
  using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;

  asio::io_context& accept_context() { return loops_.front()->context(); }
  Error cannot_listen(boost::system::error_code error) const;
  void run();
  void accept();
  void on_accept(boost::system::error_code error, TcpSocket socket, HttpServerLoop& loop);
  void note_refusal(boost::system::error_code error);
  void await_end_of_refusals();
  void make_room(HttpServerLoop& loop);
  void accept_after_pause();
  void welcome(TcpSocket socket, HttpServerLoop& loop);
  void stop_accepting();

  HttpServing serving_;
  std::vector<std::shared_ptr<HttpServerLoop>> loops_;
  Acceptor acceptor_;
  LoopTimer pause_;
  LoopTimer calm_;
  tcp::endpoint endpoint_;
  tcp::endpoint peer_;
  std::size_t next_loop_ = 0;
  bool accepting_ = true;  // as the log has it
  bool refused_ = false;   // by the kernel, since calm_ was set
  std::uint16_t port_ = 0;
  std::vector<std::thread> threads_;
};

HttpServer::Impl::Impl(Options options)
    : serving_(std::move(options)),
      loops_(make_loops(serving_)),
      acceptor_(accept_context()),
      pause_(accept_context()),
      calm_(accept_context()) {}

// What is under way on a loop ends by itself once acceptor and connections are closed; only
// then do the threads return, so no handler of ours is left that could be called later.
HttpServer::Impl::~Impl() {
  if (threads_.empty()) return;
  asio::post(accept_context(), [this] { stop_accepting(); });
  for (const auto& loop : loops_) loop->stop();
  for (std::thread& thread : threads_) thread.join();
}

Status HttpServer::Impl::bind() {
  const Options& options = serving_.options;
  boost::system::error_code error;
  const asio::ip::address address = asio::ip::make_address(options.host, error);
  if (error) {
    return Error{ErrorCode::invalid, "'" + options.host + "' is not an IPv4 or IPv6 address.",
                 "host"};
  }
  endpoint_ = {address, options.port};
  acceptor_.open(endpoint_.protocol(), error);
  if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint_, error);
  if (!error) port_ = acceptor_.local_endpoint(error).port();
  return error ? cannot_listen(error) : Status(Done{});
}

// Of two that bound the address before either listened, the second is refused only here.
Status HttpServer::Impl::serve() {
  boost::system::error_code error;
  acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (error) return cannot_listen(error);
  run();
  return Done{};
}

Error HttpServer::Impl::cannot_listen(boost::system::error_code error) const {
  return {ErrorCode::unavailable,
          "cannot listen on " + endpoint_.address().to_string() + " port " +
              std::to_string(endpoint_.port()) + ": " + error.message() + ".",
          "port"};
}

void HttpServer::Impl::run() {
  accept();
  for (const auto& loop : loops_) {
    threads_.emplace_back([loop] {
      name_thread("http-in");
      take_short_slices();
      loop->run();
    });
  }
}

void HttpServer::Impl::accept() {
  HttpServerLoop& loop = *loops_[next_loop_++ % loops_.size()];
  acceptor_.async_accept(loop.context(), peer_,
                         [this, &loop](boost::system::error_code error, TcpSocket socket) {
                           on_accept(error, std::move(socket), loop);
                         });
}

void HttpServer::Impl::on_accept(boost::system::error_code error, TcpSocket socket,
                                 HttpServerLoop& loop) {
  if (!error) welcome(std::move(socket), loop);
  if (!acceptor_.is_open()) return;
  if (error) note_refusal(error);
  if (lacks_files(error)) return make_room(loop);
  if (error) return accept_after_pause();
  accept();
}

// Below the limit of connections, but without a file descriptor for one more, the server is as full
// as at the limit: whoever has kept it waiting longest gives way.
void HttpServer::Impl::make_room(HttpServerLoop& loop) {
  asio::post(loop.context(), [this, &loop] {
    const bool made = loop.close_longest_waiting();
    asio::post(accept_context(), [this, made] {
      if (!acceptor_.is_open()) return;
      made ? accept() : accept_after_pause();
    });
  });
}

// Said once when it begins and once when it is over. A connection that takes the place of one that
// was closed for it does not mean that it is over: there may be hundreds of them a second.
void HttpServer::Impl::note_refusal(boost::system::error_code error) {
  refused_ = true;
  if (!std::exchange(accepting_, false)) return;
  log(LogLevel::error, "connections cannot be accepted", {{"reason", error.message()}});
  await_end_of_refusals();
}

void HttpServer::Impl::await_end_of_refusals() {
  refused_ = false;
  calm_.expires_after(serving_.options.refusals_over_after);
  calm_.async_wait([this](boost::system::error_code error) {
    if (error || !acceptor_.is_open()) return;
    if (refused_) return await_end_of_refusals();
    accepting_ = true;
    log(LogLevel::info, "connections are accepted again");
  });
}

void HttpServer::Impl::accept_after_pause() {
  pause_.expires_after(kAcceptPause);
  pause_.async_wait([this](boost::system::error_code error) {
    if (!error && acceptor_.is_open()) accept();
  });
}

void HttpServer::Impl::welcome(TcpSocket socket, HttpServerLoop& loop) {
  const std::size_t open = serving_.open.add();
  const std::size_t connections_max = serving_.options.limits.connections_max;
  if (open > connections_max + kTurnedAwayMax) return serving_.open.remove();
  loop.adopt({std::move(socket), text_of(peer_.address()), open > connections_max});
}

void HttpServer::Impl::stop_accepting() {
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
  calm_.cancel();
}

void HttpServer::Impl::drain(Millis grace) {
  // Shared, because the last loop may still be in count_down() when wait() returns here.
  const auto told = std::make_shared<std::latch>(static_cast<std::ptrdiff_t>(loops_.size()));
  for (const auto& loop : loops_) {
    ASSERT(!loop->on_loop_thread());
    asio::post(loop->context(), [this, told, loop = loop.get()] {
      if (loop == loops_.front().get()) stop_accepting();
      loop->start_draining();
      told->count_down();
    });
  }
  told->wait();
  serving_.open.wait_for_none(grace);
}

Result<std::unique_ptr<HttpServer>> HttpServer::bind(Options options) {
  ASSERT(options.handler);
  ASSERT(options.threads > 0);
  try {
    auto impl = std::make_unique<Impl>(std::move(options));
    if (Status bound = impl->bind(); !bound) return bound.error();
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(impl)));
  } catch (const std::exception& exception) {
    return cannot_start(exception);
  }
}

Status HttpServer::serve() {
  try {
    return impl_->serve();
  } catch (const std::exception& exception) {
    return cannot_start(exception);
  }
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(Options options) {
  TRY_ASSIGN(auto server, bind(std::move(options)));
  if (Status serving = server->serve(); !serving) return serving.error();
  return server;
}

HttpServer::HttpServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpServer::~HttpServer() = default;

std::uint16_t HttpServer::port() const {
  return impl_->port();
}

std::size_t HttpServer::open_connections() const {
  return impl_->open_connections();
}

void HttpServer::drain(Millis grace) {
  impl_->drain(grace);
}

}  // namespace belfry
