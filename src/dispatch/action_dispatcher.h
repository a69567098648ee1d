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
#include "dispatch/client_identities.h"
#include "dispatch/dispatcher.h"
#include "dispatch/failed_attempt.h"
#include "dispatch/http_request.h"
#include "dispatch/oauth_tokens.h"
#include "dispatch/preflight.h"
#include "dispatch/service_bus_options.h"
#include "dispatch/storage_queue_request.h"
#include "model/secret_mask.h"
#include "net/amqp_client.h"
#include "net/http_client.h"

namespace belfry {

class ActionDispatcher final : public Dispatcher {
 public:
  using Report = std::function<void(const Attempt&, Outcome)>;

  struct Options {
    HttpSenderIdentity identity;
    Millis timeout{60'000};    // of one attempt, where the action names none
    HttpClient::Options http;  // brokers are called by the same guard, names and authorities
    AmqpLimits amqp;
    StorageQueueOptions storage_queue;
    ServiceBusOptions service_bus;
    OAuthOptions oauth;
    // What tokens are dated by: those who check them do not live in our virtual time.
    const Clock* token_clock = nullptr;  // none: the dispatcher's own
    Report report;
    LastFailed last_failed;  // from the engine's thread; none: error actions are told nothing
    bool held = false;       // a preflight connects to nobody; the engine sends nothing
    Random random{0};        // for ids that differ with every send
  };

  static Result<std::unique_ptr<ActionDispatcher>> start(Options options, const Clock& clock);

  ~ActionDispatcher() override;
  ActionDispatcher(const ActionDispatcher&) = delete;
  ActionDispatcher& operator=(const ActionDispatcher&) = delete;

  // From one thread, the engine's.
  bool send(const Attempt& attempt, const Job& job, Instant not_before) override;

  // What the job's action in that role would send and how far it would come; it sends nothing.
  // From any thread, as long as the dispatcher is not stopped.
  void preflight(const Job& job, ActionRole role, PreflightRunner::Done done);

  // What waits for origins and brokers. From any thread.
  std::vector<TargetLoad> loads() const;

  // Takes nothing more, waits so long for what is under way, drops the rest. When it returns,
  // nothing is reported any more: the receiver of reports may go.
  void stop(Millis grace);

 private:
  ActionDispatcher(Options options, std::unique_ptr<HttpClient> http,
                   std::unique_ptr<AmqpClient> amqp, std::shared_ptr<const TlsClient> tls,
                   const Clock& clock);

  // An attempt that was asked for, and what is the same whatever it is to do.
  struct Errand {
    const Attempt& attempt;
    const Job& job;
    Millis timeout;
    Instant not_before;
    HttpHeaders failed = {};  // what an error action is told
  };
  // What the target may repeat: the job's secrets, and what a call had besides them.
  struct Sent {
    Shared<JobDefinition> definition;
    std::string credential;  // an access token, a signature; or empty
  };
  using Understand = std::function<Outcome(const HttpResult&)>;

  bool perform(const HttpAction& action, const Errand& errand);
  HttpClient::Make maker_of(const Errand& errand, std::shared_ptr<const TlsClient> tls);
  bool call_with_token(const ActiveDirectoryOAuth& who, HttpCall call, HttpDestination to,
                       const Errand& errand);
  bool perform(const StorageQueueAction& action, const Errand& errand);
  bool perform(const ServiceBusQueueAction& action, const Errand& errand);
  bool perform(const ServiceBusTopicAction& action, const Errand& errand);
  Result<HttpCall> rendered(const Attempt& attempt, const Job& job) const;
  Result<HttpCall> rendered_for_broker(const ServiceBusTarget& target,
                                       const Attempt& attempt) const;
  bool tell_what_failed(Errand& errand) const;
  bool put_on_service_bus(const ServiceBusTarget& target, const Errand& errand);
  bool put_message(const ServiceBusTarget& target, const Errand& errand);
  bool put_on_broker(const ServiceBusTarget& target, const Errand& errand);
  Result<HttpCall> service_bus_call(const ServiceBusTarget& target, const Attempt& attempt) const;
  Millis timeout_of(const Action& action) const;
  bool call(Result<HttpCall> call, const Errand& errand, std::string_view action,
            Understand understand);
  HttpClient::Done reporter_of(const Attempt& attempt, Sent sent, Understand understand) const;
  static SecretMask mask_of(const Sent& sent);
  Ticks hold_until(Instant not_before) const;
  void fail(const Attempt& attempt, std::string message);
  Instant token_expiry() const;
  SendIds new_ids();

  Options options_;
  const Clock& clock_;
  const Clock& token_clock_;
  std::unique_ptr<HttpClient> http_;
  std::unique_ptr<AmqpClient> amqp_;
  ClientIdentities identities_;
  OAuthTokens tokens_;
  PreflightRunner preflight_;
};

}  // namespace belfry
