// SPDX-License-Identifier: MIT

#include "store/sqlite_unopened.h"

#include "store/sqlite_rows.h"

namespace belfry {
namespace {

constexpr char kUnopened[] = R"(
SELECT c.subscription, c.resource_group, c.name, j.id, j.name
FROM unopened AS u CROSS JOIN job AS j ON j.id = u.job
                   CROSS JOIN collection AS c ON c.id = j.collection
WHERE u.job > ?1 ORDER BY u.job LIMIT ?2)";
constexpr char kStrike[] = "DELETE FROM unopened WHERE job = ?1";

}  // namespace

std::vector<JobName> unopened_jobs(Connection& db, JobId after, std::size_t limit) {
  std::vector<JobName> out;
  for (Rows rows = db.query(kUnopened, after, bounded(limit)); rows.next();) {
    JobName job;
    job.key.collection = read_collection_key(rows);
    job.id = JobId{rows.integer()};
    job.key.name = rows.text();
    out.push_back(std::move(job));
  }
  return out;
}

void strike_unopened(Connection& db, JobId job) {
  db.run(kStrike, job);
}

}  // namespace belfry
