// SPDX-License-Identifier: MIT

#include "metrics/metrics_page.h"

#include <gtest/gtest.h>

namespace belfry {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::AssertionFailure;
using testing::AssertionResult;
using testing::AssertionSuccess;

const Instant kNoon = Instant{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}} + hours{12};

class ScriptedStore final : public StoreFacts {
 public:
  Result<JobCounts> count_jobs_by_state() override {
    ++counted;
    if (failing) return Error{ErrorCode::unavailable, "no", {}};
    return JobCounts{.enabled = 5, .disabled = 4, .completed = 3, .faulted = 2};
  }
  Result<std::optional<Instant>> earliest_due() override {
    if (failing) return Error{ErrorCode::unavailable, "no", {}};
    return due;
  }
  Result<std::vector<LastSuccess>> last_successes() override { return counted_jobs; }
  Result<std::int64_t> count_counted_jobs(const JobKey&) override { return 0; }
  StoreBytes bytes() const override { return {.database = 4096, .log = 8192}; }

  int counted = 0;
  bool failing = false;
  std::optional<Instant> due;
  std::vector<LastSuccess> counted_jobs;
};

class MetricsPageTest : public testing::Test {
 protected:
  AssertionResult has(const std::string& line) {
    const std::string text = "\n" + page_.render();
    if (text.find("\n" + line + "\n") != std::string::npos) return AssertionSuccess();
    return AssertionFailure() << line << " is not in\n" << text;
  }

  RunMetrics runs_;
  HttpMetrics http_;
  ScriptedStore store_;
  VirtualClock clock_{kNoon};
  EngineReading engine_{12, 3, true};
  MetricsPage page_{{.runs = runs_,
                     .http = http_,
                     .store = store_,
                     .clock = clock_,
                     .engine = [this] { return engine_; },
                     .targets = [] { return std::vector<TargetLoad>{}; },
                     .failed_authentications =
                         [] {
                           return Labelled{{"no_token", 2}};
                         },
                     .version = "1.2.3",
                     .commit = "abc\"\\\n"}};
};

TEST_F(MetricsPageTest, HasWhatItsSourcesTell) {
  EXPECT_TRUE(has(R"(belfry_jobs{state="enabled"} 5)"));
  EXPECT_TRUE(has(R"(belfry_jobs{state="faulted"} 2)"));
  EXPECT_TRUE(has(R"(belfry_store_bytes{file="log"} 8192)"));
  EXPECT_TRUE(has("belfry_engine_steps_total 12"));
  EXPECT_TRUE(has("belfry_attempts_in_flight 3"));
  EXPECT_TRUE(has("belfry_store_usable 1"));
  EXPECT_TRUE(has("belfry_clock_trusted 1"));
  EXPECT_TRUE(has(R"(belfry_failed_authentications_total{reason="no_token"} 2)"));
  EXPECT_TRUE(has("# TYPE belfry_start_lateness_seconds histogram"));
}

TEST_F(MetricsPageTest, LabelsAreEscaped) {
  EXPECT_TRUE(has(R"(belfry_build_info{version="1.2.3",commit="abc\"\\\n"} 1)"));
}

TEST_F(MetricsPageTest, SaysHowLongTheFirstJobHasBeenDue) {
  EXPECT_TRUE(has("belfry_overdue_seconds 0"));
  store_.due = kNoon + seconds{30};
  EXPECT_TRUE(has("belfry_overdue_seconds 0"));
  store_.due = kNoon - seconds{90};
  EXPECT_TRUE(has("belfry_overdue_seconds 90"));
}

// It is what tells of an engine that stands still, so it must not need one that goes.
TEST_F(MetricsPageTest, SaysSoWhateverBecameOfTheEngine) {
  store_.due = kNoon - seconds{90};
  engine_ = {.steps = 0, .in_flight = 0, .store_usable = false};
  EXPECT_TRUE(has("belfry_overdue_seconds 90"));
}

// Many who ask are no reason to count a million jobs as often.
TEST_F(MetricsPageTest, CountsJobsOnceInAWhile) {
  page_.render();
  page_.render();
  EXPECT_EQ(store_.counted, 1);
}

TEST_F(MetricsPageTest, AStoreThatFailsHidesNothingElse) {
  store_.failing = true;
  EXPECT_FALSE(has("belfry_overdue_seconds 0"));
  EXPECT_TRUE(has("belfry_engine_steps_total 12"));
}

TEST_F(MetricsPageTest, RequestsAreCountedByTheClassOfTheirStatus) {
  int answered = 0;
  http_.measured([&](const HttpResponse& response) { answered = response.status; })({201, {}, ""});
  http_.refused(431);
  EXPECT_EQ(answered, 201);
  EXPECT_TRUE(has(R"(belfry_http_requests_total{code="2xx"} 1)"));
  EXPECT_TRUE(has(R"(belfry_http_requests_total{code="4xx"} 1)"));
  EXPECT_TRUE(has("belfry_http_request_duration_seconds_count 1"));
}

TEST_F(MetricsPageTest, TheProcessIsThere) {
  const std::string text = page_.render();
  for (const char* name : {"process_cpu_seconds_total", "process_resident_memory_bytes",
                           "process_open_fds", "process_start_time_seconds"}) {
    const auto at = text.find(std::string("\n") + name + " ");
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_GT(std::stod(text.substr(at + 2 + std::string(name).size())), 0) << name;
  }
}

TEST_F(MetricsPageTest, JobsThatAskForItHaveTheirLastSuccess) {
  const JobKey key{{"sub", "group", "jc"}, "nightly \"one\""};
  store_.counted_jobs = {{key, kNoon, kNoon + seconds{5}}, {{key.collection, "never"}, kNoon, {}}};
  const std::string of = R"({subscription="sub",resource_group="group",collection="jc",job=)";
  EXPECT_TRUE(
      has("belfry_job_last_success_timestamp_seconds" + of + R"("nightly \"one\""} 1893499205)"));
  EXPECT_TRUE(has("belfry_job_defined_timestamp_seconds" + of + R"("never"} 1893499200)"));
  EXPECT_EQ(page_.render().find("belfry_job_last_success_timestamp_seconds" + of + "\"never"),
            std::string::npos);
}

}  // namespace
}  // namespace belfry
