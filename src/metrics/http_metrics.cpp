// SPDX-License-Identifier: MIT

#include "metrics/http_metrics.h"

#include <fmt/format.h>

#include "base/stopwatch.h"

namespace belfry {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

HttpMetrics::HttpMetrics()
    : duration_({microseconds{250}, microseconds{500}, milliseconds{1}, milliseconds{2},
                 milliseconds{5}, milliseconds{10}, milliseconds{25}, milliseconds{50},
                 milliseconds{100}, milliseconds{250}, milliseconds{500}, seconds{1}, seconds{2},
                 seconds{5}, seconds{10}, seconds{30}}) {}

HttpMetrics::Respond HttpMetrics::measured(Respond respond) {
  return [this, respond = std::move(respond), watch = Stopwatch()](HttpResponse response) {
    count(response.status);
    duration_.observe(watch.elapsed());
    respond(std::move(response));
  };
}

void HttpMetrics::count(int status) {
  const auto hundreds = static_cast<std::size_t>(status / 100);
  answered_[hundreds < kClasses ? hundreds : 0].add();
}

Families HttpMetrics::collect() const {
  Labelled by_class;
  for (std::size_t hundreds = 2; hundreds < kClasses; ++hundreds) {
    by_class.emplace_back(fmt::format("{}xx", hundreds),
                          static_cast<double>(answered_[hundreds].value()));
  }
  return {counter_family({"belfry_http_requests_total",
                          "Requests that were answered, by the class of the status."},
                         "code", by_class),
          histogram_family({"belfry_http_request_duration_seconds",
                            "From the last byte of a request to its answer."},
                           duration_)};
}

}  // namespace belfry
