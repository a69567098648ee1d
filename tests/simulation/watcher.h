// SPDX-License-Identifier: MIT
//
// Watcher looks at the store after each commit and says what is new there: rows of the history,
// jobs that moved. It reads what is really stored, not what was asked to be.

#pragma once

#include <map>
#include <utility>
#include <vector>

#include "tests/simulation/faulty_store.h"
#include "tests/simulation/record.h"

namespace belfry {

class Watcher {
 public:
  explicit Watcher(FaultyStore& store) : store_(store) {
    store_.on_applied([this](const std::vector<Write>& batch) { look_at(batch); });
  }

  // Of the step; the three lists are in the order of the record, with the writes after the
  // first of them.
  struct News {
    std::vector<Event> before_writes;  // rows of attempts, starts taken back
    std::vector<Event> gaps;
    std::vector<Event> jobs;
  };
  News take_news() { return std::exchange(news_, {}); }

  // A target refused this attempt; its start may be taken back.
  void note_refusal(JobId job, const DueAttempt& attempt) { refused_[job] = attempt; }
  void forget_refusal(JobId job) { refused_.erase(job); }
  void forget_refusals() { refused_.clear(); }
  bool was_refused(JobId job) const { return refused_.contains(job); }

  // All rows that were ever seen of the job, as they were last.
  using Rows = std::map<HistoryPlace, HistoryEntry>;
  const Rows& rows_of(JobId job) { return rows_[job]; }

  // Rows beyond so many are forgotten, the oldest first: for long runs.
  void keep_rows(std::size_t rows_max) { rows_max_ = rows_max; }
  HistoryPlace forgotten_before(JobId job) const;

 private:
  void look_at(const std::vector<Write>& batch);
  void look_at_row(const HistoryEntry& row);
  void look_at_job(const Job& written);

  FaultyStore& store_;
  News news_;
  std::map<JobId, Rows> rows_;
  std::map<JobId, DueAttempt> refused_;
  std::size_t rows_max_ = 100'000;
};

}  // namespace belfry
