// SPDX-License-Identifier: MIT

#include "metrics/metrics_page.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <iterator>

#include "metrics/last_successes.h"
#include "metrics/process_metrics.h"

namespace belfry {
namespace {

void append(Families& all, Families more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

double number(auto value) {
  return static_cast<double>(value);
}

}  // namespace

std::string MetricsPage::render() {
  Families all = collect_build();
  append(all, collect_engine());
  append(all, sources_.runs.collect());
  append(all, collect_targets(sources_.targets()));
  append(all, collect_store());
  append(all, collect_clock());
  append(all, sources_.http.collect());
  all.push_back(counter_family(
      {"belfry_failed_authentications_total", "Requests of nobody that is known, by the reason."},
      "reason", sources_.failed_authentications()));
  append(all, collect_process(began_));
  return prometheus::TextSerializer().Serialize(all);
}

Families MetricsPage::collect_build() const {
  prometheus::ClientMetric metric;
  metric.label = {{"version", sources_.version}, {"commit", sources_.commit}};
  metric.gauge.value = 1;
  return {{"belfry_build_info", "What is running.", prometheus::MetricType::Gauge, {metric}}};
}

Families MetricsPage::collect_engine() const {
  const EngineReading engine = sources_.engine();
  return {
      counter_family({"belfry_engine_steps_total", "Steps of the engine: at least one a second."},
                     number(engine.steps)),
      gauge_family({"belfry_attempts_in_flight", "Attempts that were sent and have not ended."},
                   number(engine.in_flight)),
      gauge_family({"belfry_store_usable",
                    "1: jobs are started and writes are taken. 0: the store "
                    "fails; /readyz and the log say why."},
                   engine.store_usable ? 1 : 0),
  };
}

Families MetricsPage::collect_store() {
  Families out;
  if (const auto jobs = census_.counts()) {
    out.push_back(gauge_family({"belfry_jobs", "Jobs by state."}, "state",
                               {{"enabled", number(jobs->enabled)},
                                {"disabled", number(jobs->disabled)},
                                {"completed", number(jobs->completed)},
                                {"faulted", number(jobs->faulted)}}));
  }
  if (const auto due = sources_.store.earliest_due()) {
    const Instant now = sources_.clock.now();
    const Ticks overdue = *due ? std::max(now - **due, Ticks{0}) : Ticks{0};
    out.push_back(gauge_family({"belfry_overdue_seconds",
                                "How long the job that waits longest has been due and not started, "
                                "as the store has it: it grows when the engine stands still."},
                               in_seconds(overdue)));
  }
  if (const auto jobs = sources_.store.last_successes(); jobs && !jobs->empty()) {
    append(out, collect_last_successes(*jobs));
  }
  const StoreBytes bytes = sources_.store.bytes();
  out.push_back(gauge_family({"belfry_store_bytes", "Size of the store's files."}, "file",
                             {{"database", number(bytes.database)}, {"log", number(bytes.log)}}));
  return out;
}

Families MetricsPage::collect_clock() const {
  const ClockFacts clock = sources_.clock.facts();
  Families out{
      gauge_family({"belfry_clock_trusted",
                    "0 while the clock has just jumped and is not believed yet: nothing is "
                    "started meanwhile."},
                   clock.trusted ? 1 : 0),
      gauge_family({"belfry_clock_offset_seconds",
                    "How far the machine's clock is ahead of the time that Belfry goes by."},
                   in_seconds(clock.offset)),
      counter_family({"belfry_clock_jumps_total",
                      "Times the machine's clock was set by more than "
                      "a second, forwards or back."},
                     number(clock.jumps)),
  };
  if (clock.synchronised) {
    out.push_back(
        gauge_family({"belfry_clock_synchronised",
                      "1: the kernel says that something keeps the machine's clock right (NTP)."},
                     *clock.synchronised ? 1 : 0));
  }
  return out;
}

}  // namespace belfry
