// SPDX-License-Identifier: MIT

#include "net/amqp_client.h"

#include <utility>

#include "base/short_slices.h"
#include "base/thread_name.h"
#include "net/amqp_loop.h"

namespace belfry {

Result<std::unique_ptr<AmqpClient>> AmqpClient::start(Options options) {
  if (!options.tls) {
    TRY_ASSIGN(options.tls, TlsClient::make({}));
  }
  std::unique_ptr<Resolver> resolver;
  if (!options.resolve) {
    resolver = std::make_unique<Resolver>();
    options.resolve = [own = resolver.get()](const std::string& host, ResolveDone done) {
      own->resolve(host, std::move(done));
    };
  }
  return std::unique_ptr<AmqpClient>(new AmqpClient(std::move(options), std::move(resolver)));
}

AmqpClient::AmqpClient(Options options, std::unique_ptr<Resolver> resolver)
    : resolver_(std::move(resolver)), loop_(std::make_shared<AmqpLoop>(std::move(options))) {
  thread_ = std::thread([loop = loop_] {
    name_thread("amqp");
    take_short_slices();
    loop->run();
  });
}

AmqpClient::~AmqpClient() {
  stop();
}

// The resolver ends before the loop goes: its thread posts to it.
void AmqpClient::stop() {
  if (!thread_.joinable()) return;
  loop_->stop_taking();
  loop_->stop();
  thread_.join();
  resolver_.reset();
}

bool AmqpClient::send(AmqpCall call, Done done) {
  return loop_->send(std::move(call), std::move(done));
}

std::vector<TargetLoad> AmqpClient::loads() const {
  return loop_->loads();
}

bool AmqpClient::drain(Millis grace) {
  loop_->stop_taking();
  return loop_->wait_for_none(grace);
}

}  // namespace belfry
