// A process that kills itself at a chosen instruction of a piece of code, so that a death at each
// step of it can be tried without a word about it in the code itself: the trap flag of the
// processor calls a handler after every instruction.
#pragma once

#include <unistd.h>

#include <csignal>

namespace ringside {

#if defined(__linux__) && defined(__x86_64__)

inline constexpr bool can_kill_at_instruction = true;

class InstructionCounter {
 public:
  // From now on; kills the process after `at` instructions, never when 0.
  static void start(long at) {
    count() = 0;
    limit() = at;

    struct sigaction action {};

    action.sa_handler = [](int) {
      count() = count() + 1;
      if (count() == limit()) {
        kill(getpid(), SIGKILL);
      }
    };
    sigaction(SIGTRAP, &action, nullptr);
    // Below the red zone, which the compiler may be using.
    asm volatile(
        "lea -128(%%rsp), %%rsp\n pushfq\n orq $0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" ::
            : "cc", "memory");
  }

  // Returns how many there were.
  static long stop() {
    asm volatile(
        "lea -128(%%rsp), %%rsp\n pushfq\n andq $~0x100, (%%rsp)\n popfq\n lea 128(%%rsp), %%rsp" ::
            : "cc", "memory");
    return count();
  }

 private:
  static volatile long& count() {
    static volatile long value = 0;
    return value;
  }

  static volatile long& limit() {
    static volatile long value = 0;
    return value;
  }
};

#else

inline constexpr bool can_kill_at_instruction = false;

struct InstructionCounter {
  static void start(long) {}

  static long stop() { return 0; }
};

#endif

}  // namespace ringside
