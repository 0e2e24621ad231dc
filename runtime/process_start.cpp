#include "runtime/process_start.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>

namespace ringside {

namespace {

constexpr int of_a_signal = 128;  // exit code, as shells count

// Ranks have it too; they are not process 1, and end by the signal itself.
extern "C" void end_by_signal(int signal) {
  if (getpid() == 1) {
    _exit(of_a_signal + signal);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// One that the parent has chosen to ignore (nohup) stays ignored.
void end_program_at(int signal) {
  struct sigaction now {};

  if (sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_DFL) {
    std::signal(signal, end_by_signal);
  }
}

}  // namespace

void open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0) {
      open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);  // the lowest that is free: fd
    }
  }
}

void set_signals() {
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  if (getpid() != 1) {
    return;
  }
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM}) {
    end_program_at(signal);
  }
}

}  // namespace ringside
