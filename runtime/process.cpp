#include "runtime/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <filesystem>
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

template <class Resource>
std::optional<std::uint64_t> soft_limit(Resource resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

// The number after "Name:" in a file of /proc; in /proc/meminfo and the like it is in kB.
std::optional<std::uint64_t> proc_number(const std::string& file, std::string_view name) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(name)) {
      const auto digit = line.find_first_of("0123456789");
      std::uint64_t number = 0;
      if (digit != std::string::npos) {
        std::from_chars(line.data() + digit, line.data() + line.size(), number);
        return number;
      }
    }
  }
  return std::nullopt;
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

std::optional<std::uint64_t> descriptor_limit() {
  return soft_limit(RLIMIT_NOFILE);
}

std::uint64_t open_descriptors() {
  std::error_code error;
  std::filesystem::directory_iterator list("/dev/fd", error);
  std::uint64_t count = 0;
  for (; !error && list != std::filesystem::directory_iterator(); list.increment(error)) {
    ++count;
  }
  return count > 0 ? count - 1 : 3;  // the list itself was open
}

std::optional<std::uint64_t> process_limit() {
  return getuid() == 0 ? std::nullopt : soft_limit(RLIMIT_NPROC);
}

std::optional<std::uint64_t> processes_of_user() {
  std::error_code error;
  std::filesystem::directory_iterator list("/proc", error);
  std::uint64_t count = 0;
  for (; !error && list != std::filesystem::directory_iterator(); list.increment(error)) {
    const std::string name = list->path().filename();

    struct stat about {};

    if (name.find_first_not_of("0123456789") == std::string::npos &&
        stat(list->path().c_str(), &about) == 0 && about.st_uid == getuid()) {
      count += proc_number(list->path() / "status", "Threads:").value_or(1);
    }
  }
  return count > 0 ? std::optional(count) : std::nullopt;
}

std::optional<std::uint64_t> address_space_limit() {
  return soft_limit(RLIMIT_AS);
}

std::optional<std::uint64_t> address_space_in_use() {
  const auto kb = proc_number("/proc/self/status", "VmSize:");
  return kb ? std::optional(*kb * 1024) : std::nullopt;
}

std::optional<MachineMemory> machine_memory() {
  const auto total = proc_number("/proc/meminfo", "MemTotal:");
  const auto available = proc_number("/proc/meminfo", "MemAvailable:");
  if (!total || !available) {
    return std::nullopt;
  }
  const auto swap = proc_number("/proc/meminfo", "SwapTotal:").value_or(0);
  return MachineMemory{(*total + swap) * 1024, *available * 1024};
}

void leave_out_of_core_dumps(void* address, std::size_t bytes) {
#ifdef MADV_DONTDUMP
  madvise(address, bytes, MADV_DONTDUMP);
#else
  static_cast<void>(address);
  static_cast<void>(bytes);
#endif
}

}  // namespace ringside
