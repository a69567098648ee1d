// SPDX-License-Identifier: MIT

#include "metrics/families.h"

#include <limits>

namespace belfry {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

MetricFamily family(MetricName name, MetricType type) {
  MetricFamily out;
  out.name = name.name;
  out.help = name.help;
  out.type = type;
  return out;
}

void add(MetricFamily& family, std::vector<ClientMetric::Label> labels, double value) {
  ClientMetric metric;
  metric.label = std::move(labels);
  (family.type == MetricType::Counter ? metric.counter.value : metric.gauge.value) = value;
  family.metric.push_back(std::move(metric));
}

MetricFamily single(MetricName name, MetricType type, double value) {
  MetricFamily out = family(name, type);
  add(out, {}, value);
  return out;
}

MetricFamily labelled(MetricName name, MetricType type, const char* label, const Labelled& values) {
  MetricFamily out = family(name, type);
  for (const auto& [of, value] : values) add(out, {{label, of}}, value);
  return out;
}

}  // namespace

double in_seconds(Ticks duration) {
  return std::chrono::duration<double>(duration).count();
}

MetricFamily counter_family(MetricName name, double value) {
  return single(name, MetricType::Counter, value);
}

MetricFamily gauge_family(MetricName name, double value) {
  return single(name, MetricType::Gauge, value);
}

MetricFamily counter_family(MetricName name, const char* label, const Labelled& values) {
  return labelled(name, MetricType::Counter, label, values);
}

MetricFamily gauge_family(MetricName name, const char* label, const Labelled& values) {
  return labelled(name, MetricType::Gauge, label, values);
}

MetricFamily histogram_family(MetricName name, const Histogram& histogram) {
  const Histogram::Reading reading = histogram.read();
  ClientMetric metric;
  std::uint64_t up_to_here = 0;
  for (std::size_t i = 0; i < reading.counts.size(); ++i) {
    up_to_here += reading.counts[i];
    const bool last = i == reading.bounds.size();
    const double bound =
        last ? std::numeric_limits<double>::infinity() : in_seconds(reading.bounds[i]);
    metric.histogram.bucket.push_back({up_to_here, bound});
  }
  metric.histogram.sample_count = up_to_here;
  metric.histogram.sample_sum = in_seconds(reading.sum);
  MetricFamily out = family(name, MetricType::Histogram);
  out.metric.push_back(std::move(metric));
  return out;
}

}  // namespace belfry
