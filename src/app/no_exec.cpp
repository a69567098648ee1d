// SPDX-License-Identifier: MIT

#include "app/no_exec.h"

#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace belfry {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
#error "say which architecture this is: linux/audit.h lists them"
#endif

// Numbers from here on are those of another way to call (x32), where execve has another number.
constexpr unsigned kForeignCalls = 0x40000000;

constexpr unsigned kLoad = BPF_LD | BPF_W | BPF_ABS;
constexpr unsigned kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
constexpr unsigned kIfAtLeast = BPF_JMP | BPF_JGE | BPF_K;
constexpr unsigned kAnswer = BPF_RET | BPF_K;

// Each line: what it does, how many lines to skip when true, when false.
constexpr sock_filter kFilter[] = {
    {kLoad, 0, 0, offsetof(seccomp_data, arch)},
    {kIfEqual, 0, 5, kArchitecture},
    {kLoad, 0, 0, offsetof(seccomp_data, nr)},
    {kIfAtLeast, 3, 0, kForeignCalls},
    {kIfEqual, 2, 0, SYS_execve},
    {kIfEqual, 1, 0, SYS_execveat},
    {kAnswer, 0, 0, SECCOMP_RET_ALLOW},
    {kAnswer, 0, 0, SECCOMP_RET_ERRNO | EPERM},
};

Error refused() {
  return {ErrorCode::unavailable,
          fmt::format("the kernel takes no filter of system calls: {}", std::strerror(errno)),
          {}};
}

}  // namespace

Status forbid_exec() {
  sock_fprog program{};
  program.len = sizeof kFilter / sizeof kFilter[0];
  program.filter = const_cast<sock_filter*>(kFilter);
  // Without the first the second is for the privileged alone.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return refused();
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) return refused();
  return Done{};
}

}  // namespace belfry
