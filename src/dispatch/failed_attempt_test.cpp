// SPDX-License-Identifier: MIT

#include "dispatch/failed_attempt.h"

#include <gtest/gtest.h>

#include "dispatch/http_messages.h"

namespace belfry {
namespace {

const Attempt kErrorAction{JobId{5},
                           {Instant{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}}, 7},
                           ActionRole::error,
                           0};

HttpHeaders told_of(std::string message, const SecretMask& mask = {}) {
  HistoryEntry row;
  row.message = std::move(message);
  return failed_attempt_headers(kErrorAction, row, mask);
}

std::string status_told(std::string message) {
  return told_of(std::move(message)).at(1).second;
}

TEST(FailedAttempt, SaysWhichOccurrenceWhatStatusAndWhy) {
  const HttpHeaders told =
      told_of(response_message("t.test", {503, "Date: now\r\n", "come\r\nback later", false}));
  const HttpHeaders expected = {
      {"x-belfry-failed-occurrence", "2030-01-01T00:00:00Z " + occurrence_tag(JobId{5}, 7)},
      {"x-belfry-failed-status", "503"},
      {"x-belfry-failed-reason",
       "Http Action - Response from host 't.test': 'ServiceUnavailable' Body: come??back later"}};
  EXPECT_EQ(told, expected);
}

TEST(FailedAttempt, TheStatusIsANumberOrTheKindOfFailure) {
  EXPECT_EQ(status_told(response_message("h", {429, "", "", false})), "429");
  EXPECT_EQ(status_told(failure_message("h", {HttpFailureKind::timeout, ""})), "Timeout");
  EXPECT_EQ(status_told("ServiceBusQueue Action - Response from host 'h': 'Rejected' amqp:no"),
            "Rejected");
  EXPECT_EQ(status_told("Http Action - The access token could not be obtained: no."), "NotSent");
}

// It goes out as a header: nothing that a target answered may begin another.
TEST(FailedAttempt, TheReasonIsShortAndVisible) {
  const std::string reason =
      told_of(response_message(
                  "h", {500, "", "\xC3\xA4\r\nX-Forged: 1" + std::string(2000, 'x'), false}))
          .at(2)
          .second;
  EXPECT_EQ(reason.size(), kFailedReasonBytesMax);
  EXPECT_NE(reason.find("Body: ????X-Forged: 1xxx"), std::string::npos) << reason;
  EXPECT_TRUE(
      std::all_of(reason.begin(), reason.end(), [](char c) { return ' ' <= c && c <= '~'; }));
}

TEST(FailedAttempt, AnOldRowsSecretsAreMasked) {
  SecretMask mask;
  mask.add("open sesame");
  EXPECT_TRUE(
      told_of("Http Action - you sent open sesame", mask).at(2).second.ends_with("sent ***"));
}

TEST(FailedAttempt, WithoutARowTheOccurrenceAloneIsTold) {
  EXPECT_EQ(failed_attempt_headers(kErrorAction, std::nullopt, {}).size(), 1u);
}

}  // namespace
}  // namespace belfry
