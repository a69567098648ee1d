// SPDX-License-Identifier: MIT

#include "dispatch/storage_queue_request.h"

#include <fmt/format.h>

#include <utility>

#include "base/base64.h"
#include "base/guid.h"
#include "dispatch/endpoint_template.h"
#include "model/xml_text.h"

namespace belfry {
namespace {

std::string_view without_question_mark(std::string_view sas) {
  if (sas.starts_with('?')) sas.remove_prefix(1);
  return sas;
}

}  // namespace

// The declaration says utf-16, as the old service's did: there the envelope was a text of .NET
// before it was bytes, and readers that compare it see what they know.
std::string storage_queue_envelope(const StorageQueueAction& action, const Attempt& attempt,
                                   const Job& job, const HttpSenderIdentity& identity,
                                   const SendIds& ids) {
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"utf-16\"?>"
      "<StorageQueueMessage xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" "
      "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">"
      "<ExecutionTag>{}</ExecutionTag>"
      "<ClientRequestId>{}</ClientRequestId>"
      "<ExpectedExecutionTime>{}</ExpectedExecutionTime>"
      "<SchedulerJobId>{}</SchedulerJobId>"
      "<SchedulerJobCollectionId>{}</SchedulerJobCollectionId>"
      "<Region>{}</Region>"
      "<Message>{}</Message>"
      "</StorageQueueMessage>",
      idempotency_key(attempt), guid_of(ids.request_high, ids.request_low),
      expected_execution_time(attempt.occurrence.scheduled_for), xml_escaped(job.key->name),
      xml_escaped(job.key->collection.name), xml_escaped(identity.region),
      xml_escaped(action.message));
}

Result<HttpCall> storage_queue_call_of(const StorageQueueAction& action, const Attempt& attempt,
                                       const Job& job, const HttpSenderIdentity& identity,
                                       const SendIds& ids, const StorageQueueOptions& options) {
  std::optional<Url> url =
      endpoint_of(options.endpoint, kAccountPlaceholder, action.storage_account);
  if (!url) {
    return Error{
        ErrorCode::invalid,
        fmt::format("Storage account '{}' and the setting storage-queue-endpoint make no address",
                    action.storage_account),
        {}};
  }
  std::string text = options.envelope ? storage_queue_envelope(action, attempt, job, identity, ids)
                                      : action.message;
  if (options.base64) text = base64_of(text);
  if (text.size() > kQueueMessageBytesMax) {
    return Error{ErrorCode::invalid,
                 fmt::format("The message is {} bytes as it goes on the queue; the service takes "
                             "{}",
                             text.size(), kQueueMessageBytesMax),
                 {}};
  }
  HttpCall call;
  call.origin = {url->https, std::move(url->host), url->port};
  call.method = "POST";
  call.target = fmt::format("{}/{}/messages?{}", url->target, action.queue_name,
                            without_question_mark(action.sas_token.reveal()));
  call.authority = std::move(url->authority);
  call.headers = {{"User-Agent", identity.user_agent},
                  {"Content-Type", "application/xml"},
                  {"x-ms-client-request-id", guid_of(ids.request_high, ids.request_low)}};
  call.body =
      fmt::format("<QueueMessage><MessageText>{}</MessageText></QueueMessage>", xml_escaped(text));
  return call;
}

}  // namespace belfry
