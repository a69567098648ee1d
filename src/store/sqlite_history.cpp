// SPDX-License-Identifier: MIT

#include "store/sqlite_history.h"

#include <algorithm>
#include <limits>
#include <string>

#include "store/sqlite_rows.h"

namespace belfry {
namespace {

const std::string kNewestFirst = R"(
ORDER BY seq DESC, role DESC, retry DESC LIMIT ?5 OFFSET ?6)";
const std::string kHistory = std::string(kSelectHistory) + R"(
FROM history AS h INDEXED BY history_place
WHERE job = ?1 AND (seq, role, retry) < (?2, ?3, ?4))" +
                             kNewestFirst;
// Most ask for the first page: nothing is to be compared then.
const std::string kNewestHistory = std::string(kSelectHistory) + R"(
FROM history AS h INDEXED BY history_place
WHERE job = ?1
ORDER BY seq DESC, role DESC, retry DESC LIMIT ?2 OFFSET ?3)";
const std::string kUnsuccessfulHistory = std::string(kSelectHistory) + R"(
FROM history AS h INDEXED BY history_unsuccessful
WHERE job = ?1 AND status = ?7 AND status <> 0 AND (seq, role, retry) < (?2, ?3, ?4))" +
                                         kNewestFirst;
// A row completed if the index of those that did not has none in its place: two indexes are
// read, and only the rows of the page. A job that failed for a year still answers quickly.
const std::string kCompletedHistory = std::string(kSelectHistory) + R"(
FROM history AS h INDEXED BY history_place
WHERE job = ?1 AND (seq, role, retry) < (?2, ?3, ?4)
  AND NOT EXISTS (SELECT 1 FROM history AS u INDEXED BY history_unsuccessful
                  WHERE u.job = ?1 AND u.status <> 0 AND u.status IN (1, 2)
                    AND u.seq = h.seq AND u.role = h.role AND u.retry = h.retry))" +
                                      kNewestFirst;

// A page mostly has no more, and many jobs have less.
constexpr std::size_t kRoomForRows = 128;

// Behind every place there is.
constexpr HistoryPlace kBehindAll{.seq = std::numeric_limits<std::int64_t>::max(),
                                  .role = ActionRole::error,
                                  .retry = std::numeric_limits<int>::max()};

Rows ask_history(Connection& db, const HistoryQuery& query) {
  const HistoryPlace place = query.before.value_or(kBehindAll);
  const auto ask = [&](const std::string& sql, const auto&... status) {
    return db.query(sql.c_str(), query.job, place.seq, place.role, place.retry,
                    bounded(query.limit), bounded(query.skip), status...);
  };
  if (!query.status && !query.before) {
    return db.query(kNewestHistory.c_str(), query.job, bounded(query.limit), bounded(query.skip));
  }
  if (!query.status) return ask(kHistory);
  if (*query.status == HistoryStatus::completed) return ask(kCompletedHistory);
  return ask(kUnsuccessfulHistory, *query.status);
}

}  // namespace

std::vector<HistoryEntry> list_history(Connection& db, const HistoryQuery& query) {
  std::vector<HistoryEntry> out;
  out.reserve(std::min(query.limit, kRoomForRows));
  for (Rows rows = ask_history(db, query); rows.next();) {
    out.push_back(read_history(rows, query.job));
  }
  return out;
}

}  // namespace belfry
