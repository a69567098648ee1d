// SPDX-License-Identifier: MIT
//
// What we have counted, in the shapes that prometheus-cpp writes down. Times are in seconds and
// sizes in bytes, as Prometheus wants them.

#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

#include "base/instant.h"
#include "metrics/histogram.h"

namespace belfry {

using Families = std::vector<prometheus::MetricFamily>;

// What it is called and what it is, for people.
struct MetricName {
  const char* name;
  const char* help;
};

double in_seconds(Ticks duration);

prometheus::MetricFamily counter_family(MetricName name, double value);
prometheus::MetricFamily gauge_family(MetricName name, double value);
prometheus::MetricFamily histogram_family(MetricName name, const Histogram& histogram);

// One value for each value of a label.
using Labelled = std::vector<std::pair<std::string, double>>;
prometheus::MetricFamily counter_family(MetricName name, const char* label, const Labelled& values);
prometheus::MetricFamily gauge_family(MetricName name, const char* label, const Labelled& values);

}  // namespace belfry
