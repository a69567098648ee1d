// SPDX-License-Identifier: MIT

#include "metrics/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

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

double boot_time() {
  std::ifstream stat("/proc/stat");
  for (std::string word; stat >> word;) {
    double value = 0;
    if (word == "btime" && stat >> value) return value;
  }
  return 0;
}

// Field 22 of /proc/self/stat; the second, a name in parentheses, may contain anything.
double start_time() {
  constexpr int kFieldsBetween = 19;
  std::ifstream stat("/proc/self/stat");
  std::string line;
  std::getline(stat, line);
  std::size_t at = line.rfind(')');
  if (at == std::string::npos) return 0;
  for (int field = 0; field <= kFieldsBetween; ++field) at = line.find(' ', at + 1);
  const double ticks = std::strtod(line.c_str() + at, nullptr);
  return boot_time() + ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

Families collect_process() {
  const Memory memory = memory_bytes();
  return {
      counter_family({"process_cpu_seconds_total", "Processor time used."}, cpu_seconds()),
      gauge_family({"process_resident_memory_bytes", "Memory in use."}, memory.resident),
      gauge_family({"process_virtual_memory_bytes", "Address space in use."}, memory.all),
      gauge_family({"process_open_fds", "Open files; each connection is one."}, open_files()),
      gauge_family({"process_max_fds", "How many files may be open."}, open_files_max()),
      gauge_family({"process_start_time_seconds", "When the process began, since 1970."},
                   start_time()),
  };
}

}  // namespace belfry
