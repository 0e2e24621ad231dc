#include "runtime/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <iostream>
#include <system_error>
#include <vector>

namespace ringside {

namespace {

constexpr int body_threw = 70;  // exit code: sysexits' EX_SOFTWARE

std::system_error last_error(const char* what) {
  return std::system_error(errno, std::generic_category(), what);
}

// Calls again as long as a signal interrupts.
template <class Call>
auto uninterrupted(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

void flush_standard_streams() {
  std::cout.flush();
  std::clog.flush();
  std::fflush(stdout);
  std::fflush(stderr);
}

// The parent may have died before the kernel was asked: then nobody would send the signal.
void die_with(int parent) {
#ifdef __linux__
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (getppid() != parent) {
    _exit(body_threw);
  }
}

}  // namespace

void close_descriptor(int fd) {
  if (fd >= 0) {
    close(fd);
  }
}

void close_descriptors(std::span<const int> fds) {
  for (std::size_t i = 0; i < fds.size(); ++i) {
    const int first = fds[i];
    while (first >= 0 && i + 1 < fds.size() && fds[i + 1] == fds[i] + 1) {
      ++i;
    }
#ifdef SYS_close_range
    if (first >= 0 && syscall(SYS_close_range, first, fds[i], 0) == 0) {
      continue;
    }
#endif
    for (int fd = first; fd <= fds[i]; ++fd) {
      close_descriptor(fd);
    }
  }
}

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    throw last_error("pipe");
  }
  Pipe made{Descriptor(ends[0]), Descriptor(ends[1])};
  if (fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0 || fcntl(ends[1], F_SETFD, FD_CLOEXEC) != 0 ||
      fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
    throw last_error("fcntl on a pipe");
  }
  return made;
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = uninterrupted([&] { return write(fd, bytes.data(), bytes.size()); });
    if (written < 0) {
      throw last_error("write to a pipe");
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

Reading read_available(const Descriptor& from, std::span<char> scratch, std::string_view& got) {
  const auto n = uninterrupted([&] { return read(from.get(), scratch.data(), scratch.size()); });
  if (n > 0) {
    got = {scratch.data(), static_cast<std::size_t>(n)};
    return Reading::some;
  }
  return n < 0 && errno == EAGAIN ? Reading::nothing_there : Reading::closed;
}

bool wait_readable(std::span<const int> fds, std::chrono::milliseconds limit) {
  std::vector<pollfd> polled;
  polled.reserve(fds.size());
  for (const int fd : fds) {
    polled.push_back({fd, POLLIN, 0});
  }
  return poll(polled.data(), static_cast<nfds_t>(polled.size()), static_cast<int>(limit.count())) >
         0;
}

std::string signal_name(int signal) {
  static constexpr std::array<std::pair<int, const char*>, 17> names{{{SIGKILL, "SIGKILL"},
                                                                      {SIGSEGV, "SIGSEGV"},
                                                                      {SIGABRT, "SIGABRT"},
                                                                      {SIGBUS, "SIGBUS"},
                                                                      {SIGFPE, "SIGFPE"},
                                                                      {SIGILL, "SIGILL"},
                                                                      {SIGTERM, "SIGTERM"},
                                                                      {SIGINT, "SIGINT"},
                                                                      {SIGPIPE, "SIGPIPE"},
                                                                      {SIGHUP, "SIGHUP"},
                                                                      {SIGQUIT, "SIGQUIT"},
                                                                      {SIGTRAP, "SIGTRAP"},
                                                                      {SIGSYS, "SIGSYS"},
                                                                      {SIGXCPU, "SIGXCPU"},
                                                                      {SIGALRM, "SIGALRM"},
                                                                      {SIGUSR1, "SIGUSR1"},
                                                                      {SIGUSR2, "SIGUSR2"}}};
  for (const auto& [number, name] : names) {
    if (number == signal) {
      return name;
    }
  }
  return "signal " + std::to_string(signal);
}

ChildProcess::ChildProcess(const std::function<void()>& body) : parent_(getpid()) {
  flush_standard_streams();  // or the child would print the parent's text again
  pid_ = fork();
  if (pid_ < 0) {
    throw last_error("fork");
  }
  if (pid_ > 0) {
    return;
  }
  die_with(parent_);
  int code = 0;
  try {
    body();
  } catch (...) {
    code = body_threw;
  }
  leave_process(code);
}

void leave_process(int code) {
  flush_standard_streams();
  _exit(code);
}

// A copy of this object in a forked child is not its owner.
ChildProcess::~ChildProcess() {
  if (pid_ > 0 && !reaped_ && getpid() == parent_) {
    kill();
    int status = 0;
    uninterrupted([&] { return waitpid(pid_, &status, 0); });
  }
}

int own_process() {
  return getpid();
}

std::string process_state(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(stat, line);
  const auto end_of_name = line.rfind(") ");  // a name may have parentheses of its own
  if (end_of_name == std::string::npos || end_of_name + 2 >= line.size()) {
    return "";
  }
  switch (line[end_of_name + 2]) {
    case 'R':
      return "running";
    case 'S':
      return "sleeping";
    case 'D':
      return "in a system call";
    case 'T':
    case 't':
      return "stopped";
    case 'Z':
    case 'X':
      return "dead";
    default:
      return "";
  }
}

std::optional<ProcessEnd> ChildProcess::ended() {
  int status = 0;
  const auto pid = uninterrupted([&] { return waitpid(pid_, &status, WNOHANG); });
  if (pid == 0) {
    return std::nullopt;
  }
  reaped_ = true;
  if (pid < 0) {  // somebody else has reaped it
    return ProcessEnd{false, -1};
  }
  return WIFSIGNALED(status) ? ProcessEnd{true, WTERMSIG(status)}
                             : ProcessEnd{false, WEXITSTATUS(status)};
}

void ChildProcess::kill() const {
  ::kill(pid_, SIGKILL);
}

}  // namespace ringside
