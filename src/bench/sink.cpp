// SPDX-License-Identifier: MIT

#include "bench/sink.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include "base/thread_name.h"

namespace belfry {
namespace {

constexpr std::string_view kExpected = "x-ms-scheduler-expected-execution-time: ";

// What the request says of when it was due; empty when it does not.
std::string_view due_in(std::string_view request) {
  const auto at = request.find(kExpected);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = request.substr(at + kExpected.size());
  return rest.substr(0, rest.find('\r'));
}

// "2030-01-01T00:00:00.1234567" in UTC.
double seconds_of(const char* text) {
  tm date{};
  const char* rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &date);
  if (rest == nullptr) return 0;
  const double fraction = *rest == '.' ? std::strtod(rest, nullptr) : 0;
  return static_cast<double>(timegm(&date)) + fraction;
}

}  // namespace

double seconds_since_1970() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::int64_t Arrivals::early() const {
  return std::count_if(late_seconds.begin(), late_seconds.end(),
                       [](double late) { return late < 0; });
}

Sink::Sink()
    : server_([this](const std::vector<std::string_view>& requests) { note(requests); }),
      thread_([this] {
        name_thread("bench-sink");
        server_.run();
      }) {}

Sink::~Sink() {
  server_.stop();
  thread_.join();
}

void Sink::note(const std::vector<std::string_view>& requests) {
  const double now = seconds_since_1970();
  const std::lock_guard lock(mutex_);
  if (arrivals_.count == 0) arrivals_.first = now;
  arrivals_.last = now;
  arrivals_.count += static_cast<std::int64_t>(requests.size());
  for (const std::string_view request : requests) {
    const std::string_view due = due_in(request);
    if (due.empty()) continue;
    Timed& timed = timed_.emplace_back();
    timed.came = now;
    due.copy(timed.due.data(), timed.due.size() - 1);
  }
  if (wanted_ > 0 && arrivals_.count >= wanted_) arrived_.notify_all();
}

bool Sink::wait_for(std::int64_t count, double seconds) {
  std::unique_lock lock(mutex_);
  wanted_ = count;
  const bool came = arrived_.wait_for(lock, std::chrono::duration<double>(seconds),
                                      [&] { return arrivals_.count >= count; });
  wanted_ = 0;
  return came;
}

Arrivals Sink::take() {
  std::unique_lock lock(mutex_);
  Arrivals out = std::exchange(arrivals_, {});
  const std::vector<Timed> timed = std::exchange(timed_, {});
  lock.unlock();
  for (const Timed& one : timed) {
    const double due = seconds_of(one.due.data());
    if (due > 0) out.late_seconds.push_back(one.came - due);
  }
  return out;
}

}  // namespace belfry
