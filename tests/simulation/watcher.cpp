// SPDX-License-Identifier: MIT

#include "tests/simulation/watcher.h"

namespace belfry {
namespace {

HistoryPlace place_of(const HistoryEntry& row) {
  return {.seq = row.occurrence.seq, .role = row.role, .retry = row.retry};
}

// Of what nobody tried.
bool is_gap(RowKind kind) {
  return kind >= RowKind::overlap_gap;
}

Event event_of(JobId job, decltype(Event::what) what) {
  return {.step = 0, .now = {}, .job = job, .what = std::move(what)};
}

Saw seen(const Job& job) {
  return {.gen = job.gen,
          .state = job.state,
          .status = job.status,
          .last_seq = job.last_seq,
          .ended = job.ended,
          .next = job.next};
}

bool same_attempt(const DueAttempt& a, const DueAttempt& b) {
  return a.occurrence == b.occurrence && a.role == b.role && a.retry == b.retry;
}

}  // namespace

void Watcher::look_at(const std::vector<Write>& batch) {
  for (const Write& write : batch) {
    if (const auto* put = std::get_if<PutJob>(&write)) {
      for (const HistoryEntry& row : put->rows) look_at_row(row);
      look_at_job(put->job);
    } else if (const auto* advance = std::get_if<AdvanceJob>(&write)) {
      for (const HistoryEntry& row : advance->rows) look_at_row(row);
      look_at_job(advance->job);
    } else if (const auto* add = std::get_if<AddHistory>(&write)) {
      for (const HistoryEntry& row : add->rows) look_at_row(row);
    }
  }
}

HistoryPlace Watcher::forgotten_before(JobId job) const {
  const auto rows = rows_.find(job);
  if (rows == rows_.end() || rows->second.size() < rows_max_) return {};
  return rows->second.begin()->first;
}

void Watcher::look_at_row(const HistoryEntry& written) {
  HistoryQuery query;
  query.job = written.job;
  query.before = place_of(written);
  ++query.before->retry;
  query.limit = 1;
  const auto found = *store_.truth().history(query);
  if (found.empty() || place_of(found[0]) != place_of(written)) return;
  const HistoryEntry& row = found[0];
  Rows& rows = rows_[row.job];
  const auto [it, added] = rows.try_emplace(place_of(row), row);
  if (!added && it->second == row) return;
  it->second = row;
  if (rows.size() > rows_max_) rows.erase(rows.begin());
  const RowKind kind = kind_of(row);
  (is_gap(kind) ? news_.gaps : news_.before_writes)
      .push_back(event_of(row.job, Recorded{kind, row}));
}

void Watcher::look_at_job(const Job& written) {
  const auto stored = *store_.truth().job(written.key);
  if (!stored || stored->id != written.id) return;
  if (const auto it = refused_.find(stored->id); it != refused_.end()) {
    const DueAttempt attempt = it->second;
    refused_.erase(it);
    const Rows& rows = rows_[stored->id];
    const auto row =
        rows.find({.seq = attempt.occurrence.seq, .role = attempt.role, .retry = attempt.retry});
    // Taken back first, it may have been ended in the same step: that row is no note.
    const bool noted = row != rows.end() && kind_of(row->second) != RowKind::unmade;
    const bool waited_for =
        stored->next && stored->next->started && same_attempt(*stored->next, attempt);
    if (!noted && !waited_for) news_.before_writes.push_back(event_of(stored->id, Unstarted{}));
    if (waited_for) refused_[stored->id] = attempt;
  }
  news_.jobs.push_back(event_of(stored->id, seen(*stored)));
}

}  // namespace belfry
