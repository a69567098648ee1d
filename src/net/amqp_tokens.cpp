// SPDX-License-Identifier: MIT

#include "net/amqp_tokens.h"

#include <fmt/format.h>
#include <proton/disposition.h>
#include <proton/terminus.h>

#include <utility>

#include "net/amqp_message.h"

namespace belfry {
namespace {

constexpr const char* kNode = "$cbs";
constexpr const char* kReplyTo = "belfry-cbs";
constexpr const char* kTokenType = "servicebus.windows.net:sastoken";
constexpr int kAnswersAtOnce = 100;
constexpr std::size_t kAnswerBytesMax = 64 * 1024;

bool is_success(int status) {
  return 200 <= status && status < 300;
}

std::string received_bytes(pn_delivery_t* delivery) {
  std::string bytes(pn_delivery_pending(delivery), '\0');
  const ssize_t count = pn_link_recv(pn_delivery_link(delivery), bytes.data(), bytes.size());
  bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return bytes;
}

}  // namespace

void AmqpTokens::attach() {
  sender_ = pn_sender(session_, "belfry-cbs-sender");
  pn_terminus_set_address(pn_link_target(sender_), kNode);
  pn_terminus_set_address(pn_link_source(sender_), kReplyTo);
  pn_link_open(sender_);
  receiver_ = pn_receiver(session_, "belfry-cbs-receiver");
  pn_terminus_set_address(pn_link_source(receiver_), kNode);
  pn_terminus_set_address(pn_link_target(receiver_), kReplyTo);
  pn_link_open(receiver_);
  pn_link_flow(receiver_, kAnswersAtOnce);
}

void AmqpTokens::put(const std::string& address, const std::string& audience,
                     const std::string& token) {
  if (sender_ == nullptr) attach();
  AmqpMessage request;
  request.message_id = fmt::to_string(++requests_);
  request.reply_to = kReplyTo;
  request.properties = {{"operation", std::string("put-token")},
                        {"type", std::string(kTokenType)},
                        {"name", audience}};
  request.body = token;
  request.body_is_text = true;
  pending_.emplace(*request.message_id, address);
  waiting_.push_back(encode_amqp_message(request));
  on_flow();
}

void AmqpTokens::on_flow() {
  while (!waiting_.empty() && pn_link_credit(sender_) > 0) {
    const std::string request = std::move(waiting_.front());
    waiting_.pop_front();
    const std::string tag = fmt::to_string(requests_ - waiting_.size());
    pn_delivery_t* delivery = pn_delivery(sender_, pn_dtag(tag.data(), tag.size()));
    pn_link_send(sender_, request.data(), request.size());
    pn_link_advance(sender_);
    pn_delivery_settle(delivery);  // the answer is what counts
  }
}

void AmqpTokens::on_delivery(pn_delivery_t* delivery) {
  if (pn_delivery_link(delivery) != receiver_ || !pn_delivery_readable(delivery)) return;
  if (pn_delivery_pending(delivery) > kAnswerBytesMax) {
    return on_closed({"Unauthorized", {}, "the answer of $cbs is too long"});
  }
  if (!pn_delivery_partial(delivery)) on_answer(delivery);
}

void AmqpTokens::on_answer(pn_delivery_t* delivery) {
  const AmqpReply reply = decode_amqp_reply(received_bytes(delivery));
  pn_link_advance(receiver_);
  pn_delivery_update(delivery, PN_ACCEPTED);
  pn_delivery_settle(delivery);
  pn_link_flow(receiver_, 1);
  const auto asked = pending_.extract(reply.correlation_id);
  if (asked.empty()) return;
  if (is_success(reply.status)) return report_(asked.mapped(), std::nullopt);
  report_(asked.mapped(),
          AmqpRefusal{"Unauthorized", fmt::format("{}", reply.status), reply.description});
}

void AmqpTokens::on_closed(const AmqpRefusal& refusal) {
  for (pn_link_t* link : {sender_, receiver_}) {
    pn_link_close(link);
    pn_link_free(link);
  }
  sender_ = receiver_ = nullptr;
  waiting_.clear();
  for (const auto& [id, address] : std::exchange(pending_, {})) report_(address, refusal);
}

}  // namespace belfry
