// The built program while it runs: its ranks, signals to it and to them, and what is left of it.
//
// Linux only, as it reads /proc. Orphans become children of the test, so that none is overlooked.
#pragma once

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "runtime/process.hpp"
#include "tests/support/program.hpp"

namespace ringside {

// Whether `condition` comes true within `limit`.
inline bool comes_true(std::chrono::milliseconds limit, const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

// Runs `arguments`, as for a shell, in a session and a folder of its own.
class RunningProgram {
 public:
  // `environment` is for env ("-u HOME LC_ALL=C"); `first` runs in the child before the program,
  // and may move to another folder or become another user.
  explicit RunningProgram(const std::string& arguments, const std::string& environment = {},
                          const std::function<void()>& first = {},
                          const std::string& program = RINGSIDE_PROGRAM) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const std::string command = "exec env " + environment + " " + program + " " + arguments;
    process_ = std::make_unique<ChildProcess>([&] {
      setsid();
      redirect("/dev/null", STDIN_FILENO, O_RDONLY);
      redirect(folder_ / "out", STDOUT_FILENO, O_WRONLY | O_CREAT);
      redirect(folder_ / "err", STDERR_FILENO, O_WRONLY | O_CREAT);
      std::filesystem::current_path(folder_.path());
      if (first) {
        first();
      }
      execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    });
  }

  int pid() const { return process_->pid(); }

  const TemporaryFolder& folder() const { return folder_; }

  // Of the ranks that are there, in the order of their start.
  std::vector<int> ranks() const {
    const std::string id = std::to_string(pid());
    std::istringstream in(content("/proc/" + id + "/task/" + id + "/children"));
    std::vector<int> pids;
    for (int pid = 0; in >> pid;) {
      pids.push_back(pid);
    }
    return pids;
  }

  // Those of a job of n, once all are there; empty when they do not come, or when it is over.
  std::vector<int> all_ranks(std::size_t n) {
    std::vector<int> pids;
    comes_true(std::chrono::seconds(60), [&] {
      pids = ranks();
      return pids.size() == n || over();
    });
    return pids.size() == n ? pids : std::vector<int>{};
  }

  // The launcher and its ranks, all at once.
  void signal_all(int signal) const { ::kill(-pid(), signal); }

  void signal_launcher(int signal) const { ::kill(pid(), signal); }

  bool over() {
    if (!end_) {
      end_ = process_->ended();
    }
    return end_.has_value();
  }

  // How it ended; exit code -1 when it has not within `limit`.
  Ended wait(std::chrono::milliseconds limit) {
    Ended ended;
    if (comes_true(limit, [&] { return over(); })) {
      ended.exit_code = end_->by_signal ? 128 + end_->code : end_->code;
    }
    ended.out = content(folder_ / "out");
    ended.err = content(folder_ / "err");
    return ended;
  }

  // Whether nothing that it started is left within `limit`. Of all programs of this test: use it
  // when one runs at a time, and when it is over.
  static bool nothing_left(std::chrono::milliseconds limit) {
    return comes_true(limit, [] {
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      return waitpid(-1, nullptr, WNOHANG) < 0;
    });
  }

 private:
  static void redirect(const std::filesystem::path& path, int to, int flags) {
    const int from = open(path.c_str(), flags, 0644);
    dup2(from, to);
    close(from);
  }

  TemporaryFolder folder_;
  std::unique_ptr<ChildProcess> process_;
  std::optional<ProcessEnd> end_;
};

// The names in /dev/shm.
inline std::vector<std::string> named_segments() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", none)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ringside
