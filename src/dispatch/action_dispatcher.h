// SPDX-License-Identifier: MIT
//
// ActionDispatcher performs actions: it looks at what an attempt is to do and gives it to
// whoever sends such things. Calls, storage queues and Service Bus over its REST interface are
// the HttpClient's, Service Bus over AMQP is the AmqpClient's.
//
// Every attempt that was taken is reported exactly once, from any thread and perhaps before
// send() returns, unless the dispatcher is stopped before: then the rest is dropped without a
// word. Nothing is lost by that: the engine has marked them as started, and sends what was
// started and never settled again when it is next running.

#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "dispatch/dispatcher.h"
#include "dispatch/http_request.h"
#include "dispatch/service_bus_options.h"
#include "dispatch/storage_queue_request.h"
#include "net/amqp_client.h"
#include "net/http_client.h"

namespace belfry {

class ActionDispatcher final : public Dispatcher {
 public:
  using Report = std::function<void(const Attempt&, Outcome)>;

  struct Options {
    HttpSenderIdentity identity;
    Millis timeout{60'000};    // of one attempt
    HttpClient::Options http;  // brokers are called by the same guard, names and authorities
    AmqpLimits amqp;
    StorageQueueOptions storage_queue;
    ServiceBusOptions service_bus;
    // What tokens are dated by: those who check them do not live in our virtual time.
    const Clock* token_clock = nullptr;  // none: the dispatcher's own
    Report report;
    Random random{0};  // for ids that differ with every send
  };

  static Result<std::unique_ptr<ActionDispatcher>> start(Options options, const Clock& clock);

  // From one thread, the engine's.
  bool send(const Attempt& attempt, const Job& job) override;

  // Takes nothing more, waits so long for what is under way, drops the rest. When it returns,
  // nothing is reported any more: the receiver of reports may go.
  void stop(Millis grace);

 private:
  ActionDispatcher(Options options, std::unique_ptr<HttpClient> http,
                   std::unique_ptr<AmqpClient> amqp, const Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        http_(std::move(http)),
        amqp_(std::move(amqp)) {}

  bool send_http(const HttpAction& action, const Attempt& attempt, const Job& job);
  bool send_storage_queue(const StorageQueueAction& action, const Attempt& attempt, const Job& job);
  bool send_service_bus(const ServiceBusTarget& target, const Attempt& attempt);
  bool send_amqp(const ServiceBusTarget& target, const SharedAccessKey& key,
                 const Attempt& attempt);
  bool put_message(std::string_view action, Result<HttpCall> call, const Attempt& attempt,
                   std::string secret);
  bool report_unsendable(const Attempt& attempt, std::string message);
  const Clock& token_clock() const;
  SendIds new_ids();

  Options options_;
  const Clock& clock_;
  std::unique_ptr<HttpClient> http_;
  std::unique_ptr<AmqpClient> amqp_;
};

}  // namespace belfry
