// SPDX-License-Identifier: MIT

#include "app/occurrence_log.h"

#include <algorithm>

#include "model/attempt.h"
#include "wire/resource_path.h"

namespace belfry {
namespace {

Millis::rep took_ms(const HistoryEntry& row) {
  const auto millis = std::chrono::floor<Millis>(row.ended - row.started);
  return std::max(millis, Millis{0}).count();
}

// The same action of the same occurrence is going to be tried again.
bool tries_again(const Job& job, const HistoryEntry& row) {
  return job.next && job.next->occurrence == row.occurrence && job.next->role == row.role &&
         job.next->retry > row.retry;
}

std::string_view action_of(const HistoryEntry& row) {
  return row.role == ActionRole::main ? "MainAction" : "ErrorAction";
}

}  // namespace

std::string_view reason_of(std::string_view message) {
  for (const std::string_view end : {" Response Headers:", " Body:"}) {
    message = message.substr(0, message.find(end));
  }
  return message.substr(0, OccurrenceLog::kReasonBytesMax);
}

void OccurrenceLog::committed(const std::vector<Write>& writes,
                              const std::vector<WriteResult>& results) {
  for (std::size_t i = 0; i < writes.size(); ++i) {
    if (results[i] == WriteResult::refused) continue;
    if (const auto* advance = std::get_if<AdvanceJob>(&writes[i])) {
      for (const HistoryEntry& row : advance->rows) tell(advance->job, row);
    } else if (const auto* put = std::get_if<PutJob>(&writes[i])) {
      // Its other rows are of attempts whose outcome is not known.
      for (const HistoryEntry& row : put->rows) {
        if (row.gap) tell_gap(put->job, row);
      }
    }
  }
}

void OccurrenceLog::tell(const Job& job, const HistoryEntry& row) {
  if (row.gap) return tell_gap(job, row);
  const bool completed = row.status == HistoryStatus::completed;
  const bool again = tries_again(job, row);
  const LogLevel level = completed ? LogLevel::debug : again ? LogLevel::info : LogLevel::warning;
  if (!takes(level)) return;
  const std::string id = job_id(job.key);
  const std::string occurrence = occurrence_tag(row.job, row.occurrence.seq);
  const std::string action(action_of(row));
  if (completed) {
    log_(level, "attempt completed",
         {{"job", id},
          {"occurrence", occurrence},
          {"action", action},
          {"retry", row.retry},
          {"took_ms", took_ms(row)}});
    return;
  }
  log_(level, again ? "attempt failed, it is tried again" : "occurrence failed",
       {{"job", id},
        {"occurrence", occurrence},
        {"action", action},
        {"retry", row.retry},
        {"took_ms", took_ms(row)},
        {"reason", std::string(reason_of(row.message))}});
}

void OccurrenceLog::tell_gap(const Job& job, const HistoryEntry& row) {
  if (!takes(LogLevel::warning)) return;
  log_(LogLevel::warning, "occurrences missed",
       {{"job", job_id(job.key)},
        {"occurrence", occurrence_tag(row.job, row.occurrence.seq)},
        {"first", format_instant(row.occurrence.scheduled_for)},
        {"last", format_instant(row.gap->last)},
        {"count", row.gap->count},
        {"reason", std::string(reason_of(row.message))}});
}

bool OccurrenceLog::takes(LogLevel level) {
  if (level < least_) return false;
  // The clock may have been put back.
  const Instant now = clock_.now();
  if (now < window_ || now - window_ >= kLinesMaxIn) {
    window_ = now;
    lines_ = 0;
  }
  if (lines_ == kLinesMax) {
    ++left_out_;
    return false;
  }
  if (left_out_ > 0) {
    log_(LogLevel::warning, "lines about occurrences were left out, they came too fast",
         {{"count", std::exchange(left_out_, 0)}});
  }
  ++lines_;
  return true;
}

}  // namespace belfry
