// SPDX-License-Identifier: MIT

#include "app/preview_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "app/exit_code.h"
#include "app/flags.h"
#include "app/input_file.h"
#include "app/preview.h"
#include "base/clock.h"
#include "wire/iso8601.h"

namespace belfry {
namespace {

constexpr const char* kHelp = R"(
Reads a job's JSON: the whole resource, its "properties", or only "startTime" and
"recurrence". Comments and trailing commas are allowed. Prints one instant a line, in UTC;
a job that is due at once prints the time of --now.

Examples:
  belfry preview job.json
  belfry preview --count 3 --now 2030-01-01T00:00Z job.json
  echo '{"recurrence": {"frequency": "day", "schedule": {"hours": [9], "minutes": [0]}}}' \
    | belfry preview

Exit code: 0, or 2 when the job is wrong; what is wrong is said on standard error, one
line for each rule that it breaks. A job with nothing ahead of it is not wrong: nothing is
printed, and standard error says why.)";

}  // namespace

void PreviewCommand::add_to(CLI::App& app) {
  app_ = app.add_subcommand("preview", "Say when a job would run, without a server");
  app_->footer(kHelp);
  app_->add_option("FILE", file_, "The job; - is standard input")->type_name("");
  app_->add_option("--now", now_, "Pretend that it is this time")->type_name("TIME");
  app_->add_option("--count", count_,
                   fmt::format("How many instants, at most {}", kPreviewCountMax))
      ->check(integer_from(1, kPreviewCountMax))
      ->type_name("N")
      ->capture_default_str();
  app_->add_flag("--json", json_, "Print a JSON array");
}

std::optional<int> PreviewCommand::run() const {
  if (!app_->parsed()) return std::nullopt;
  const auto now = now_.empty() ? std::optional<Instant>(WallClock{}.now()) : parse_instant(now_);
  if (!now) {
    return end_with(
        kWrongInput,
        fmt::format("--now must be a date and time such as 2030-01-31T09:00:00Z; it is '{}'.",
                    now_));
  }
  const auto text = read_job_file(file_, kPreviewFileBytesMax);
  if (!text) return end_with(kWrongInput, text.error().message);
  const PreviewAnswer answer = preview(*text, {.now = *now, .count = count_, .json = json_});
  std::fputs(answer.complaints.c_str(), stderr);
  std::fputs(answer.output.c_str(), stdout);
  return answer.understood ? kDone : kWrongInput;
}

}  // namespace belfry
