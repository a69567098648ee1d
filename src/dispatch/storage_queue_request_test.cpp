// SPDX-License-Identifier: MIT

#include "dispatch/storage_queue_request.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

using namespace std::chrono_literals;

const HttpSenderIdentity kIdentity{"Belfry/1.2.3", "West & East"};
const SendIds kIds{0x0123456789abcdef, 0xfedcba9876543210, 7};
const Instant kScheduledFor = std::chrono::sys_days{std::chrono::year{2016} / 1 / 29} + 9h;
const Attempt kAttempt{JobId{42}, {kScheduledFor, 3}, ActionRole::main, 0};

Job a_job() {
  Job job;
  job.id = JobId{42};
  job.key = JobKey{{"sub", "group", "collection"}, "job"};
  return job;
}

StorageQueueAction an_action() {
  return {"MyAccount", "myqueue", Secret("?sv=2018-03-28&sig=a%2Bb%3D&se=2030"), "a < b"};
}

Result<HttpCall> try_call(const StorageQueueAction& action,
                          const StorageQueueOptions& options = {}) {
  return storage_queue_call_of(action, kAttempt, a_job(), kIdentity, kIds, options);
}

HttpCall call_of(const StorageQueueAction& action, const StorageQueueOptions& options = {}) {
  auto call = try_call(action, options);
  EXPECT_TRUE(call.has_value());
  return *std::move(call);
}

TEST(StorageQueueRequest, GoesToTheAccountsQueueWithTheSignatureAsItIs) {
  const HttpCall call = call_of(an_action());
  EXPECT_EQ(call.origin, (HttpOrigin{true, "myaccount.queue.core.windows.net", 443}));
  EXPECT_EQ(call.authority, "myaccount.queue.core.windows.net");
  EXPECT_EQ(call.method, "POST");
  EXPECT_EQ(call.target, "/myqueue/messages?sv=2018-03-28&sig=a%2Bb%3D&se=2030");
  EXPECT_EQ(header_of(call.headers, "User-Agent"), "Belfry/1.2.3");
}

TEST(StorageQueueRequest, FindsEmulatorsThatHaveTheAccountInThePath) {
  StorageQueueOptions options;
  for (const char* endpoint :
       {"http://127.0.0.1:10001/{account}", "http://127.0.0.1:10001/{account}/"}) {
    options.endpoint = endpoint;
    const HttpCall call = call_of(an_action(), options);
    EXPECT_EQ(call.origin, (HttpOrigin{false, "127.0.0.1", 10001}));
    EXPECT_TRUE(call.target.starts_with("/MyAccount/myqueue/messages?sv=")) << call.target;
  }
  options.endpoint = "ftp://{account}";
  EXPECT_FALSE(try_call(an_action(), options));
  options.endpoint = "https://{account}.example/?x=y";
  EXPECT_FALSE(try_call(an_action(), options));
}

TEST(StorageQueueRequest, WrapsTheMessageAsTheOldServiceDid) {
  EXPECT_EQ(storage_queue_envelope(an_action(), kAttempt, a_job(), kIdentity, kIds),
            "<?xml version=\"1.0\" encoding=\"utf-16\"?>"
            "<StorageQueueMessage xmlns:xsd=\"http://www.w3.org/2001/XMLSchema\" "
            "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\">"
            "<ExecutionTag>" +
                idempotency_key(kAttempt) +
                "</ExecutionTag>"
                "<ClientRequestId>01234567-89ab-4def-bedc-ba9876543210</ClientRequestId>"
                "<ExpectedExecutionTime>2016-01-29T09:00:00</ExpectedExecutionTime>"
                "<SchedulerJobId>job</SchedulerJobId>"
                "<SchedulerJobCollectionId>collection</SchedulerJobCollectionId>"
                "<Region>West &amp; East</Region>"
                "<Message>a &lt; b</Message>"
                "</StorageQueueMessage>");
}

TEST(StorageQueueRequest, EncodesAsTheServerIsTold) {
  const auto body = [](bool envelope, bool base64) {
    StorageQueueOptions options;
    options.envelope = envelope;
    options.base64 = base64;
    return call_of(an_action(), options).body;
  };
  EXPECT_EQ(body(false, false), "<QueueMessage><MessageText>a &lt; b</MessageText></QueueMessage>");
  EXPECT_EQ(body(false, true), "<QueueMessage><MessageText>YSA8IGI=</MessageText></QueueMessage>");
  EXPECT_TRUE(body(true, true).starts_with("<QueueMessage><MessageText>PD94bWwgdmVy"));
  EXPECT_NE(body(true, false).find("&lt;Message&gt;a &amp;lt; b&lt;/Message&gt;"),
            std::string::npos);
}

TEST(StorageQueueRequest, RefusesWhatTheServiceWouldRefuse) {
  StorageQueueAction action = an_action();
  StorageQueueOptions options;
  options.envelope = false;
  action.message = std::string(kQueueMessageBytesMax * 3 / 4, 'x');
  EXPECT_TRUE(try_call(action, options));
  action.message += 'x';
  const auto refused = try_call(action, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "The message is 65540 bytes as it goes on the queue; the service takes 65536");
}

}  // namespace
}  // namespace belfry
