// SPDX-License-Identifier: MIT

#include "metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace belfry {
namespace {

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

double cpu_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}

double open_files() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator file("/proc/self/fd", error), end; file != end;
       file.increment(error)) {
    ++count;
  }
  return count;
}

double open_files_max() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<double>(limit.rlim_cur);
}

struct Memory {
  double all = 0;
  double resident = 0;
};

Memory memory_bytes() {
  std::ifstream statm("/proc/self/statm");
  Memory pages;
  statm >> pages.all >> pages.resident;
  const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
  return {pages.all * page, pages.resident * page};
}

}  // namespace

Families collect_process(Instant began) {
  const Memory memory = memory_bytes();
  return {
      counter_family({"process_cpu_seconds_total", "Processor time used."}, cpu_seconds()),
      gauge_family({"process_resident_memory_bytes", "Memory in use."}, memory.resident),
      gauge_family({"process_virtual_memory_bytes", "Address space in use."}, memory.all),
      gauge_family({"process_open_fds", "Open files; each connection is one."}, open_files()),
      gauge_family({"process_max_fds", "How many files may be open."}, open_files_max()),
      gauge_family({"process_start_time_seconds", "When the process began, since 1970."},
                   in_seconds(began.time_since_epoch())),
  };
}

}  // namespace belfry
