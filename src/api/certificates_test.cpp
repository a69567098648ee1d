// SPDX-License-Identifier: MIT

#include "api/certificates.h"

#include <gtest/gtest.h>

#include "net/pfx.h"
#include "net/pfx_samples.h"

namespace belfry {
namespace {

Action showing(const std::string& pfx, const std::string& password = kPfxPassword) {
  HttpAction action;
  action.authentication = ClientCertificate{Secret(pfx), Secret(password), "CLAIMED", {}, ""};
  return {.what = action, .retry_policy = {}, .timeout = {}};
}

const ClientCertificate& certificate_of(const Action& action) {
  return std::get<ClientCertificate>(*std::get<HttpAction>(action.what).authentication);
}

JobDefinition job_showing(const std::string& pfx, const std::string& password = kPfxPassword) {
  JobDefinition job;
  job.action = showing(pfx, password);
  return job;
}

JobDefinition stored_job() {
  JobDefinition stored = job_showing(kModernPfx);
  EXPECT_EQ(open_certificates(stored).size(), 0U);
  return stored;
}

TEST(OpenCertificates, KeepsKeyAndChainInPlaceOfFileAndPassword) {
  const JobDefinition stored = stored_job();
  const ClientCertificate& kept = certificate_of(stored.action);
  EXPECT_EQ(kept.thumbprint, kPfxThumbprint);
  EXPECT_EQ(kept.subject_name, kPfxSubject);
  EXPECT_TRUE(kept.password.empty());
  EXPECT_TRUE(Pfx::read(kept.pfx.reveal()));
  EXPECT_FALSE(has_unopened_certificates(stored));
}

// Who sends the same at every start changes nothing by it, in whatever file it comes.
TEST(OpenCertificates, TheSameCertificateSentAgainIsEqual) {
  for (const char* file : {kModernPfx, kOldPfx}) {
    JobDefinition again = job_showing(file);
    EXPECT_TRUE(has_unopened_certificates(again));
    EXPECT_EQ(open_certificates(again).size(), 0U);
    EXPECT_EQ(again, stored_job());
  }
}

TEST(OpenCertificates, NamesTheOneThatDoesNotOpen) {
  JobDefinition wanted = job_showing(kModernPfx);
  wanted.error_action = showing(kOldKeytoolPfx);
  const auto errors = open_certificates(wanted);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.front().target, "action.errorAction.request.authentication.pfx");
}

// A PATCH of something else must not take long, and what it says of the certificate is not heard.
TEST(OpenCertificates, WhatAPatchLeavesAloneStays) {
  const JobDefinition stored = stored_job();
  JobDefinition patched = stored;
  auto& http = std::get<HttpAction>(patched.action.what);
  std::get<ClientCertificate>(*http.authentication).thumbprint = "CLAIMED";
  EXPECT_FALSE(has_unopened_certificates(patched));
  EXPECT_EQ(open_certificates(patched, &stored).size(), 0U);
  EXPECT_EQ(patched, stored);
}

TEST(OpenCertificates, AKeptTextIsTakenFromNobody) {
  const JobDefinition stored = stored_job();
  JobDefinition forged = job_showing(certificate_of(stored.action).pfx.reveal(), "");
  ASSERT_EQ(open_certificates(forged).size(), 1U);
  const JobDefinition other = job_showing("opened:AAAA", "");
  ASSERT_EQ(open_certificates(forged, &other).size(), 1U);
}

TEST(OpenCertificates, APasswordComesWithItsFile) {
  const JobDefinition stored = stored_job();
  JobDefinition patched = job_showing(certificate_of(stored.action).pfx.reveal(), "another");
  const auto errors = open_certificates(patched, &stored);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors.front().target, "action.request.authentication.password");
  EXPECT_EQ(errors.front().message, "belongs to a pfx: send both.");
}

TEST(KeepCertificates, OpensWhatAnOlderVersionStored) {
  JobDefinition old = job_showing(kOldPfx);
  old.error_action = showing(kOldKeytoolPfx);
  EXPECT_TRUE(keep_certificates(old));
  EXPECT_EQ(old.action, stored_job().action);
  const ClientCertificate& refused = certificate_of(*old.error_action);
  EXPECT_TRUE(is_refused_pfx(refused.pfx.reveal()));
  EXPECT_TRUE(refused.password.empty());
  EXPECT_FALSE(keep_certificates(old)) << "nothing is left to be opened";
}

}  // namespace
}  // namespace belfry
