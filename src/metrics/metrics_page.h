// SPDX-License-Identifier: MIT
//
// MetricsPage is /metrics: everything that is counted while the server runs, and what can be
// asked of its parts at the moment, in Prometheus' text format. What cannot be asked is left out,
// so that a store that fails does not hide the rest. Any thread may render.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "metrics/http_metrics.h"
#include "metrics/job_census.h"
#include "metrics/run_metrics.h"
#include "metrics/target_metrics.h"
#include "store/store_facts.h"

namespace belfry {

struct EngineReading {
  std::uint64_t steps = 0;
  std::size_t in_flight = 0;
  bool store_usable = false;
};

struct MetricsSources {
  const RunMetrics& runs;
  const HttpMetrics& http;
  StoreFacts& store;
  const Clock& clock;
  std::function<EngineReading()> engine;
  std::function<std::vector<TargetLoad>()> targets;
  std::function<Labelled()> failed_authentications;  // by reason
  std::string version;
  std::string commit;
};

class MetricsPage {
 public:
  // What the sources point at must outlive it.
  explicit MetricsPage(MetricsSources sources)
      : sources_(std::move(sources)), census_(sources_.store) {}

  std::string render();

 private:
  Families collect_build() const;
  Families collect_engine() const;
  Families collect_store();
  Families collect_clock() const;

  const MetricsSources sources_;
  JobCensus census_;
  const Instant began_ = WallClock().now();  // with the process, as good as
};

}  // namespace belfry
