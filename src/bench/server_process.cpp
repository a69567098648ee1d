// SPDX-License-Identifier: MIT

#include "bench/server_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <string_view>
#include <vector>

#include "bench/failure.h"

namespace belfry {
namespace {

constexpr std::string_view kServing = "Serving on http://127.0.0.1:";

// Settings of the caller's are not for a server that is to be measured.
std::vector<std::string> environment_without_settings() {
  std::vector<std::string> kept;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!std::string_view(*entry).starts_with("BELFRY_")) kept.emplace_back(*entry);
  }
  return kept;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

// Between fork and exec only calls that are safe there.
[[noreturn]] void become(const char* binary, char* const* arguments, char* const* environment,
                         int output) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  dup2(output, STDOUT_FILENO);
  execve(binary, arguments, environment);
  _exit(127);
}

// Reads what the server says until it has said where it listens.
std::uint16_t port_said_on(int input) {
  std::string said;
  char bytes[4096];
  while (true) {
    const auto at = said.find(kServing);
    if (at != std::string::npos && said.find('\n', at) != std::string::npos) {
      return static_cast<std::uint16_t>(std::atoi(said.c_str() + at + kServing.size()));
    }
    const ssize_t count = read(input, bytes, sizeof(bytes));
    if (count <= 0) throw BenchFailure("the server did not start; it said:\n" + said);
    said.append(bytes, static_cast<std::size_t>(count));
  }
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// User and system time stand after the name, which may itself contain blanks.
double seconds_of(const std::string& stat) {
  const auto after_name = stat.rfind(')');
  if (after_name == std::string::npos) return 0;
  unsigned long user = 0;
  unsigned long system = 0;
  std::sscanf(stat.c_str() + after_name + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
              &user, &system);
  return static_cast<double>(user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

TemporaryDirectory::TemporaryDirectory(const std::filesystem::path& parent) {
  std::string name = (parent / "belfry-bench-XXXXXX").native();
  if (mkdtemp(name.data()) == nullptr) {
    throw BenchFailure(
        fmt::format("cannot make a directory in {}: {}", parent.native(), std::strerror(errno)));
  }
  path_ = name;
}

TemporaryDirectory::~TemporaryDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ServerProcess::ServerProcess(const std::filesystem::path& binary,
                             const std::filesystem::path& store) {
  std::vector<std::string> words = {"belfry",  "serve",        "--listen",    "127.0.0.1:0",
                                    "--store", store.native(), "--log-level", "warning"};
  std::vector<std::string> variables = environment_without_settings();
  const std::vector<char*> arguments = pointers(words);
  const std::vector<char*> environment = pointers(variables);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw BenchFailure("no pipe could be made");
  id_ = fork();
  if (id_ == 0) become(binary.c_str(), arguments.data(), environment.data(), ends[1]);
  close(ends[1]);
  if (id_ < 0) throw BenchFailure("no process could be made");
  greeting_ = ends[0];
  port_ = port_said_on(greeting_);
}

ServerProcess::~ServerProcess() {
  kill(id_, SIGTERM);
  waitpid(id_, nullptr, 0);
  close(greeting_);
}

std::map<std::string, double> thread_seconds(pid_t process) {
  std::map<std::string, double> seconds;
  const std::filesystem::path tasks = fmt::format("/proc/{}/task", process);
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::string name = text_of(task.path() / "comm");
    if (!name.empty()) name.pop_back();  // the end of the line
    seconds[name] += seconds_of(text_of(task.path() / "stat"));
  }
  return seconds;
}

double resident_bytes(pid_t process) {
  double pages_all = 0;
  double pages_resident = 0;
  std::ifstream(fmt::format("/proc/{}/statm", process)) >> pages_all >> pages_resident;
  return pages_resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

}  // namespace belfry
