// SPDX-License-Identifier: MIT

#include "app/file_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "net/amqp_call.h"
#include "net/http_client_call.h"

namespace belfry {
namespace {

// For targets, brokers, the store, names being looked up, clients that are told to come back later.
constexpr std::size_t kFilesKeptBack = 6'000;
static_assert(kFilesKeptBack > HttpClientLimits{}.connections_max + AmqpLimits{}.brokers_max);

}  // namespace

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

std::size_t files_max() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::numeric_limits<std::size_t>::max();
  return limit.rlim_cur;
}

std::size_t connections_with(std::size_t files, std::size_t wanted) {
  return std::min(wanted, files - std::min(files / 2, kFilesKeptBack));
}

}  // namespace belfry
