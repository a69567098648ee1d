// SPDX-License-Identifier: MIT
//
// The few requests that measurements make: collections of a thousand one-time jobs that POST to
// a sink, as many as are wanted.

#pragma once

#include <cstdint>
#include <string>

#include "bench/load.h"

namespace belfry {

// So many jobs: named by number, a collection per thousand, all with the same prefix.
struct JobBatch {
  std::string prefix;
  std::int64_t count = 0;
  std::uint16_t sink_port = 0;
  double first_due = 0;      // seconds since 1970
  double seconds_apart = 0;  // from one to the next
};

class ApiClient {
 public:
  ApiClient(std::uint16_t port, std::string token) : port_(port), token_(std::move(token)) {}

  void put_collections(const JobBatch& batch) const;
  void delete_collections(const JobBatch& batch) const;
  LoadResult put_jobs(const JobBatch& batch, int connections) const;
  LoadResult get_again_and_again(const std::string& target, int connections,
                                 std::int64_t requests) const;

  // Blocks until every job of the batch has run and that is recorded.
  void wait_until_completed(const JobBatch& batch) const;

  // Runs a job once more now, when what it did before is recorded.
  void run(const std::string& target) const;

  // Path and query of a job of the batch, with something below it.
  std::string job_target(const JobBatch& batch, std::int64_t number, const std::string& below = "",
                         const std::string& query = "") const;

 private:
  Answer ask(const std::string& method, const std::string& target, const std::string& body) const;
  std::string request(const std::string& method, const std::string& target,
                      const std::string& body) const {
    return request_text(method, target, body, token_);
  }

  std::uint16_t port_;
  std::string token_;
};

}  // namespace belfry
