// SPDX-License-Identifier: MIT

#include "metrics/last_successes.h"

namespace belfry {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricType;

ClientMetric of_job(const JobKey& key, Instant value) {
  ClientMetric metric;
  metric.label = {{"subscription", key.collection.subscription},
                  {"resource_group", key.collection.resource_group},
                  {"collection", key.collection.name},
                  {"job", key.name}};
  metric.gauge.value = in_seconds(value.time_since_epoch());
  return metric;
}

}  // namespace

Families collect_last_successes(const std::vector<LastSuccess>& jobs) {
  prometheus::MetricFamily succeeded{
      "belfry_job_last_success_timestamp_seconds",
      "When a job that asks for it (properties.metrics) last succeeded: the end of the attempt. "
      "Missing until it has.",
      MetricType::Gauge,
      {}};
  prometheus::MetricFamily defined{
      "belfry_job_defined_timestamp_seconds",
      "Since when such a job is as it is: when it was made or replaced.",
      MetricType::Gauge,
      {}};
  for (const LastSuccess& job : jobs) {
    defined.metric.push_back(of_job(job.key, job.defined));
    if (job.at) succeeded.metric.push_back(of_job(job.key, *job.at));
  }
  return {std::move(succeeded), std::move(defined)};
}

}  // namespace belfry
