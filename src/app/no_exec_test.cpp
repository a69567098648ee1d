// SPDX-License-Identifier: MIT

#include "app/no_exec.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace belfry {
namespace {

constexpr int kRan = 0;  // as `true` ends
constexpr int kRefused = 3;
constexpr int kOther = 4;

// How a child ends that tries to become /bin/true.
int end_of_child(bool forbidden) {
  const pid_t child = fork();
  if (child == 0) {
    if (forbidden && !forbid_exec()) std::_Exit(kOther);
    char* const arguments[] = {const_cast<char*>("true"), nullptr};
    ::execv("/bin/true", arguments);
    std::_Exit(errno == EPERM ? kRefused : kOther);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(NoExec, NoProgramIsStartedFromThenOn) {
  EXPECT_EQ(end_of_child(/*forbidden=*/false), kRan);
  EXPECT_EQ(end_of_child(/*forbidden=*/true), kRefused);
}

}  // namespace
}  // namespace belfry
