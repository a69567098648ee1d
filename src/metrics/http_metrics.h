// SPDX-License-Identifier: MIT
//
// HttpMetrics counts the requests that the server answered, by the class of their status, and
// how long the answer took. It wraps what answers a request: neither server nor API know of it.

#pragma once

#include <array>
#include <functional>

#include "metrics/counter.h"
#include "metrics/families.h"
#include "metrics/histogram.h"
#include "net/http.h"

namespace belfry {

class HttpMetrics {
 public:
  using Respond = std::function<void(HttpResponse)>;

  HttpMetrics();

  // The same answer, and it is counted; this must outlive it.
  Respond measured(Respond respond);

  // For what is refused before it is a request: it took no time.
  void refused(int status) { count(status); }

  Families collect() const;

 private:
  void count(int status);

  static constexpr std::size_t kClasses = 6;  // 0: not a status
  std::array<Counter, kClasses> answered_;
  Histogram duration_;
};

}  // namespace belfry
