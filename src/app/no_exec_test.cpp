// SPDX-License-Identifier: MIT

#include "app/no_exec.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace belfry {
namespace {

constexpr int kRan = 0;  // as `true` ends
constexpr int kRefused = 3;
constexpr int kOther = 4;
constexpr int kKilled = -1;

// How a child ends that tries to become another program. `become` comes back with the error.
template <typename Become>
int end_of_child(bool forbidden, Become become) {
  const pid_t child = fork();
  if (child == 0) {
    if (forbidden && !forbid_exec()) std::_Exit(kOther);
    std::_Exit(become() == EPERM ? kRefused : kOther);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : kKilled;
}

char* const kArguments[] = {const_cast<char*>("true"), nullptr};
char* const kEnvironment[] = {nullptr};

int by_execve() {
  ::execve("/bin/true", kArguments, kEnvironment);
  return errno;
}

int by_execveat() {
  ::syscall(SYS_execveat, AT_FDCWD, "/bin/true", kArguments, kEnvironment, 0);
  return errno;
}

TEST(NoExec, NoProgramIsStartedFromThenOn) {
  for (const auto become : {by_execve, by_execveat}) {
    EXPECT_EQ(end_of_child(/*forbidden=*/false, become), kRan);
    EXPECT_EQ(end_of_child(/*forbidden=*/true, become), kRefused);
  }
}

#if defined(__x86_64__)

// execve has other numbers there. Without the filter they are answered by another error, or by a
// signal where this kernel knows no such way.
int by_x32() {
  constexpr long kExecve = 0x40000000 + 520;
  ::syscall(kExecve, nullptr, nullptr, nullptr);
  return errno;
}

int by_32_bits() {
  constexpr int kExecve = 11;
  int answer = 0;
  asm volatile("int $0x80" : "=a"(answer) : "a"(kExecve), "b"(0), "c"(0), "d"(0) : "memory");
  return -answer;
}

TEST(NoExec, NorByTheOtherWaysToCallTheKernel) {
  for (const auto become : {by_x32, by_32_bits}) {
    const int unforbidden = end_of_child(/*forbidden=*/false, become);
    EXPECT_TRUE(unforbidden == kOther || unforbidden == kKilled) << unforbidden;
    if (unforbidden == kKilled) continue;
    EXPECT_EQ(end_of_child(/*forbidden=*/true, become), kRefused);
  }
}

#endif

}  // namespace
}  // namespace belfry
