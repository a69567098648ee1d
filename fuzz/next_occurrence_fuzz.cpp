// SPDX-License-Identifier: MIT
//
// Any recurrence that can be accepted, asked from anywhere: the promises of next_occurrence.h
// hold, and it comes back.

#include <cstdint>
#include <cstring>
#include <span>

#include "base/assert.h"
#include "recurrence/next_occurrence.h"

namespace belfry {
namespace {

constexpr int kSteps = 4;

// Takes values off the front of the input; when it is used up, zeros.
class Bytes {
 public:
  explicit Bytes(std::span<const std::uint8_t> input) : rest_(input) {}

  template <typename Number>
  Number take() {
    Number number{};
    const std::size_t size = std::min(sizeof number, rest_.size());
    if (size > 0) std::memcpy(&number, rest_.data(), size);
    rest_ = rest_.subspan(size);
    return number;
  }

  // The remainder makes small inputs reach every value.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    const auto span = static_cast<std::uint64_t>(last - first) + 1;
    return first + static_cast<std::int64_t>(take<std::uint64_t>() % span);
  }

  SmallSet set(int first, int last) {
    if (take<std::uint8_t>() % 2 == 0) return {};
    return SmallSet::range(first, last) & SmallSet::of_mask(take<std::uint64_t>());
  }

 private:
  std::span<const std::uint8_t> rest_;
};

Instant take_instant(Bytes& bytes) {
  return Instant{Ticks{bytes.between(kFirstInstant.time_since_epoch().count(),
                                     kLastInstant.time_since_epoch().count())}};
}

void take_days_of_month(Bytes& bytes, Schedule& schedule) {
  schedule.month_days = bytes.set(1, 31);
  schedule.month_days_from_end = bytes.set(1, 31);
  schedule.months = bytes.set(1, 12);
  for (int left = bytes.take<std::uint8_t>() % 4; left > 0; --left) {
    const auto day = static_cast<WeekDay>(bytes.take<std::uint8_t>() % 7);
    const int n = bytes.take<std::uint8_t>() % (2 * kOccurrenceInMonthMax + 1);
    schedule.monthly_occurrences.push_back({day, n - kOccurrenceInMonthMax});
  }
}

Recurrence take_recurrence(Bytes& bytes) {
  Recurrence recurrence;
  recurrence.frequency = static_cast<Frequency>(bytes.take<std::uint8_t>() % 6);
  recurrence.interval = 1 + bytes.take<std::uint16_t>() % kIntervalMax;
  if (bytes.take<std::uint8_t>() % 4 == 1) recurrence.count = bytes.between(1, 8);
  if (bytes.take<std::uint8_t>() % 4 == 1) recurrence.end_time = take_instant(bytes);
  if (recurrence.frequency == Frequency::minute) return recurrence;
  recurrence.schedule.minutes = bytes.set(0, 59);
  recurrence.schedule.hours = bytes.set(0, 23);
  if (recurrence.frequency == Frequency::week) recurrence.schedule.week_days = bytes.set(0, 6);
  if (recurrence.frequency >= Frequency::month) take_days_of_month(bytes, recurrence.schedule);
  return recurrence;
}

void check_answer(const Recurrence& recurrence, Instant anchor, Instant after, Instant next) {
  ASSERT(next > after);
  ASSERT(next >= anchor);
  ASSERT(next <= kLastInstant);
  ASSERT(!recurrence.end_time || next <= *recurrence.end_time);
}

// No occurrence lies between: from any instant before it, the next one is the same.
void check_between(const Recurrence& recurrence, Instant anchor, Instant after, Instant next) {
  const Instant middle = after + (next - after) / 2;
  ASSERT(next_occurrence(recurrence, anchor, 0, middle) == next);
  ASSERT(next_occurrence(recurrence, anchor, 0, next - kOneTick) == next);
}

void walk(const Recurrence& recurrence, Instant anchor, Instant after) {
  for (std::int64_t ran = 0; ran < kSteps; ++ran) {
    const auto next = next_occurrence(recurrence, anchor, ran, after);
    if (!next) return;
    ASSERT(!recurrence.count || ran < *recurrence.count);
    check_answer(recurrence, anchor, after, *next);
    check_between(recurrence, anchor, after, *next);
    after = *next;
  }
}

}  // namespace
}  // namespace belfry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  belfry::Bytes bytes({data, size});
  const belfry::Recurrence recurrence = belfry::take_recurrence(bytes);
  const belfry::Instant anchor = belfry::take_instant(bytes);
  const belfry::Instant after = belfry::take_instant(bytes);
  belfry::walk(recurrence, anchor, after);
  belfry::walk(recurrence, anchor, anchor - belfry::kOneTick);
  return 0;
}
