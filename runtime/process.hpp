// Every operating-system call for processes: forking children that die with their parent, reaping
// and killing them, pipes, and the limits that the system sets.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace ringside {

void close_descriptor(int fd);  // none when negative
// The same for many; quick where they follow each other.
void close_descriptors(std::span<const int> fds);

// An open file descriptor, closed at the end of its life.
class Descriptor {
 public:
  Descriptor() = default;

  explicit Descriptor(int fd) : fd_(fd) {}

  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }

  ~Descriptor() { close(); }

  void close() { close_descriptor(std::exchange(fd_, -1)); }

  int get() const { return fd_; }

  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read;   // never blocks
  Descriptor write;  // blocks while the pipe is full
};

// Neither end survives an exec. Throws std::system_error.
Pipe make_pipe();

// Throws std::system_error when the reader is gone.
void write_all(int fd, std::string_view bytes);

enum class Reading : std::uint8_t { nothing_there, some, closed };

// Reads what is there into `scratch`; `got` is that part of it. Never waits.
Reading read_available(const Descriptor& from, std::span<char> scratch, std::string_view& got);

// Returns when one of `fds` can be read or was closed by its writers, and whether that is so, or
// after `limit`; may return early. Negative ones are passed over.
bool wait_readable(std::span<const int> fds, std::chrono::milliseconds limit);

struct ProcessEnd {
  bool by_signal = false;
  int code = 0;  // the signal, or the exit code
};

// "SIGKILL"; "signal 42" where there is no name.
std::string signal_name(int signal);

class ChildProcess {
 public:
  // Forks; the child runs `body` and leaves without running the parent's exit handlers. It dies
  // when the parent does, also when that happens during the fork. Throws std::system_error.
  explicit ChildProcess(const std::function<void()>& body);
  ChildProcess(ChildProcess&&) = delete;
  // Kills and reaps a child that is still there.
  ~ChildProcess();

  int pid() const { return pid_; }

  // How it ended, once it has; never waits.
  std::optional<ProcessEnd> ended();
  void kill() const;

 private:
  int pid_ = -1;
  int parent_ = -1;
  bool reaped_ = false;
};

int own_process();
// "running", "sleeping", "stopped", "dead"; empty where it cannot be told.
std::string process_state(int pid);

// Leaves without running the parent's exit handlers; what was printed is flushed.
[[noreturn]] void leave_process(int code);

// ---- limits: none where there is no limit, or where it cannot be told --------------------------
std::optional<std::uint64_t> descriptor_limit();
std::uint64_t open_descriptors();
// Processes and threads of this user; none for those that the limit does not bind.
std::optional<std::uint64_t> process_limit();
std::optional<std::uint64_t> processes_of_user();
std::optional<std::uint64_t> address_space_limit();
std::optional<std::uint64_t> address_space_in_use();

struct MachineMemory {
  std::uint64_t total = 0;  // with swap
  std::uint64_t available = 0;
};

std::optional<MachineMemory> machine_memory();

// Leaves [address, address + bytes) out of core dumps, which would take seconds to write.
void leave_out_of_core_dumps(void* address, std::size_t bytes);

}  // namespace ringside
