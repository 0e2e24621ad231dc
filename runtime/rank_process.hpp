// One rank that is a process, as its launcher sees it: what comes down its pipe, and how it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/job.hpp"
#include "runtime/launch.hpp"
#include "runtime/process.hpp"
#include "runtime/result_pipe.hpp"

namespace ringside {

// The child's side: the last words of a rank.
void send_outcome(int pipe, const RankOutcome& outcome);

class RankProcess {
 public:
  using OnNote = std::function<void(std::string_view)>;

  // Forks; `body` gets the writing end of the pipe. Throws std::system_error.
  void start(const std::function<void(int pipe)>& body);

  bool runs() const { return process_ != nullptr; }

  // Whether it has closed its pipe, as a rank that ends does.
  bool is_ending() const { return runs() && !pipe_; }

  bool has_failed() const { return noticed_failure_; }

  int pipe() const { return pipe_.get(); }

  int pid() const { return pid_; }

  // Reads what is in the pipe, at most about `most` bytes. Returns whether there was something.
  bool listen(std::uint64_t turn, std::size_t most, std::span<char> scratch, const OnNote& on_note);
  // Whether the process has ended since; then the outcome is final.
  bool reap(std::uint64_t turn, std::span<char> scratch, const OnNote& on_note);
  void call_silent(std::uint64_t turn, std::string why);
  // Kills it; unless it brings other words, it was stopped because another rank had failed.
  void stop(const std::optional<WaitRecord>& wait, const std::string& cause);

  RankOutcome outcome;
  std::uint64_t noticed = 0;  // the turn in which it failed, or closed its pipe

 private:
  void handle(Frame frame, std::uint64_t turn, const OnNote& on_note);
  void settle(ProcessEnd end, std::uint64_t turn);
  void fail(std::uint64_t turn, Ending ending, std::string type, std::string text, int code = 0);

  int pid_ = 0;
  std::unique_ptr<ChildProcess> process_;  // none once it was reaped
  Descriptor pipe_;
  FrameReader frames_;
  bool has_value_ = false;
  bool has_exception_ = false;
  bool killed_ = false;  // by the launcher
  bool noticed_failure_ = false;
};

}  // namespace ringside
