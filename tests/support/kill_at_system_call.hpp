// A process that is killed before a chosen system call of a piece of code, so that a death at each
// step that anybody else can see is tried, without a word about it in the code itself.
#pragma once

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace ringside {

struct TracedEnd {
  long calls = 0;  // that were begun
  bool killed = false;
};

// Runs `body` in a process of its own, and kills it before its call number `at`, counted from 1;
// never when 0. `missing`: a system call that this system does not have; -1: none.
inline TracedEnd run_until_call(const std::function<void()>& body, long at, long missing = -1) {
  constexpr int at_call = SIGTRAP | 0x80;
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    body();
    _exit(0);
  }
  TracedEnd end;
  int status = 0;
  waitpid(child, &status, 0);
  ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (bool entering = true; WIFSTOPPED(status);) {
    ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    waitpid(child, &status, 0);
    if (!WIFSTOPPED(status) || WSTOPSIG(status) != at_call) {
      continue;
    }
    if (entering && ++end.calls == at) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      end.killed = true;
    } else if (entering && missing >= 0) {
#if defined(__x86_64__)
      user_regs_struct registers{};
      ptrace(PTRACE_GETREGS, child, nullptr, &registers);
      if (static_cast<long>(registers.orig_rax) == missing) {
        registers.orig_rax = ~0ULL;  // no call at all: ENOSYS
        ptrace(PTRACE_SETREGS, child, nullptr, &registers);
      }
#endif
    }
    entering = !entering;
  }
  return end;
}

}  // namespace ringside
