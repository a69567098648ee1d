// SPDX-License-Identifier: MIT
//
// How an attempt of a StorageQueueAction becomes an HTTP call that puts one message on the
// queue, and what the service's answer means.
//
// By default the message travels as the old service sent it: inside the StorageQueueMessage
// envelope, which names the job and the occurrence, and in base64, as storage clients of its
// time read it. The key of the occurrence is in the envelope; the bare text has no room for it.

#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "dispatch/http_request.h"
#include "model/attempt.h"
#include "net/http_client_call.h"

namespace belfry {

inline constexpr std::size_t kQueueMessageBytesMax = 64 * 1024;  // the service's own limit

struct StorageQueueOptions {
  std::string endpoint = "https://{account}.queue.core.windows.net";
  bool envelope = true;
  bool base64 = true;
};

inline constexpr std::string_view kAccountPlaceholder = "{account}";

// The XML that the old service put on queues. ExecutionTag is the attempt's idempotency key.
std::string storage_queue_envelope(const StorageQueueAction& action, const Attempt& attempt,
                                   const Job& job, const HttpSenderIdentity& identity,
                                   const SendIds& ids);

// An error says in its message why this message cannot be sent at all.
Result<HttpCall> storage_queue_call_of(const StorageQueueAction& action, const Attempt& attempt,
                                       const Job& job, const HttpSenderIdentity& identity,
                                       const SendIds& ids, const StorageQueueOptions& options);

}  // namespace belfry
