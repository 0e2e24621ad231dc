#include "runtime/rank_processes.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>

#include "runtime/cause.hpp"
#include "runtime/deadlock_watch.hpp"
#include "runtime/errors.hpp"
#include "runtime/live_log.hpp"
#include "runtime/patient_output.hpp"
#include "runtime/rank_process.hpp"
#include "runtime/silence.hpp"

namespace ringside {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds grace(300);          // for the others, once a rank has failed
constexpr milliseconds soon(1);             // between a closed pipe and the end of its process
constexpr milliseconds sweep(20);           // between two looks at processes with open pipes
constexpr std::size_t at_once = 256 << 10;  // from one pipe, before the next has its turn

class RankProcesses {
 public:
  RankProcesses(SharedJob& job, const JobOptions& options, std::vector<int> listeners,
                const RankFunction& fn)
      : job_(job),
        options_(options),
        listeners_(std::move(listeners)),
        owned_listeners_(listeners_.begin(), listeners_.end()),
        fn_(fn),
        watch_(job, options.limit),
        deadlocks_(job),
        scratch_(at_once),
        ranks_(static_cast<std::size_t>(job.ranks())) {}

  JobResult run();

 private:
  void fork_all();
  void live(int id, int pipe);
  void turn();
  std::vector<int> pipes() const;
  milliseconds patience() const;
  void hear();
  void reap();
  void look_for_silence();
  void look_for_deadlock();
  bool has_failed() const;
  int cause() const;
  void look_around();
  void end_job();
  RankProcess::OnNote note_of(std::size_t rank);

  SharedJob& job_;
  const JobOptions& options_;
  std::vector<int> listeners_;
  std::vector<Descriptor> owned_listeners_;
  const RankFunction& fn_;
  SilenceWatch watch_;
  DeadlockWatch deadlocks_;
  std::vector<char> scratch_;
  PatientOutput lines_;  // of the live view
  std::vector<RankProcess> ranks_;
  std::size_t running_ = 0;
  std::uint64_t turns_ = 0;
  std::optional<JobFailure> failure_;                // of several ranks together
  std::vector<std::optional<WaitRecord>> waits_;     // when the job was ended
  std::vector<LastSeen> last_seen_;                  // then
  std::vector<int> missing_;                         // then
  std::optional<steady_clock::time_point> kill_at_;  // once a rank has failed
  steady_clock::time_point last_sweep_;
  steady_clock::time_point last_look_;
};

JobResult RankProcesses::run() {
  fork_all();
  release_ranks(job_);
  const auto start = steady_clock::now();
  last_sweep_ = last_look_ = start;
  while (running_ > 0) {
    turn();
  }
  lines_.finish();
  JobResult result;
  result.cause = cause();
  result.failure = std::move(failure_);
  result.missing = std::move(missing_);
  result.last_seen = std::move(last_seen_);
  result.stopped_for = job_.abort_text();
  for (RankProcess& rank : ranks_) {
    result.ranks.push_back(std::move(rank.outcome));
  }
  result.wall = steady_clock::now() - start;
  return result;
}

// What has been forked is killed and reaped by its destructor when a later fork fails.
void RankProcesses::fork_all() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    try {
      ranks_[r].start([&](int pipe) { live(static_cast<int>(r), pipe); });
    } catch (const std::system_error& error) {
      throw BadUse("only " + std::to_string(r) + " of " + std::to_string(ranks_.size()) +
                   " ranks could be started (" + error.what() +
                   "), and were ended again; use fewer ranks, or raise the limit of processes "
                   "(ulimit -u, or pids.max of the container)");
    }
    ++running_;
  }
  owned_listeners_.clear();
}

// In the child.
void RankProcesses::live(int id, int pipe) {
  close_descriptors(pipes());  // of those forked before; nothing is written to their objects,
                               // whose pages every child would have to copy
  const auto close_other_listeners = [&] {  // its own belongs to the wires of the rank
    for (std::size_t r = 0; r < owned_listeners_.size(); ++r) {
      if (static_cast<int>(r) != id) {
        owned_listeners_[r].close();
      }
    }
  };
  run_body({.id = id,
            .job = job_,
            .options = options_,
            .listeners = listeners_,
            .fn = fn_,
            .send_note = [=](std::string_view text) { write_frame(pipe, FrameKind::note, text); },
            .when_built = close_other_listeners,
            .deliver =
                [&](const RankOutcome& outcome) {
                  send_outcome(pipe, outcome);
                  if (outcome.ending != Ending::returned) {
                    await_end(job_, id);
                  }
                  leave_process(0);
                }});
}

void RankProcesses::turn() {
  ++turns_;
  if (wait_readable(pipes(), patience())) {
    hear();
  }
  lines_.pump();
  reap();
  look_for_silence();
  look_for_deadlock();
  if (has_failed() && running_ > 0) {
    end_job();
  }
}

bool RankProcesses::has_failed() const {
  return failure_ || std::any_of(ranks_.begin(), ranks_.end(),
                                 [](const RankProcess& rank) { return rank.has_failed(); });
}

int RankProcesses::cause() const {
  if (failure_) {
    return failure_->ranks.front();
  }
  std::vector<const RankOutcome*> outcomes;
  std::vector<std::uint64_t> noticed;
  for (const RankProcess& rank : ranks_) {
    outcomes.push_back(&rank.outcome);
    noticed.push_back(rank.noticed);
  }
  return find_cause(outcomes, noticed);
}

// The reading ends, -1 where there is none.
std::vector<int> RankProcesses::pipes() const {
  std::vector<int> pipes;
  pipes.reserve(ranks_.size());
  for (const RankProcess& rank : ranks_) {
    pipes.push_back(rank.pipe());
  }
  return pipes;
}

milliseconds RankProcesses::patience() const {
  const bool ending = std::any_of(ranks_.begin(), ranks_.end(),
                                  [](const RankProcess& rank) { return rank.is_ending(); });
  return ending ? soon : kill_at_ ? sweep : deadlocks_.interval();
}

RankProcess::OnNote RankProcesses::note_of(std::size_t rank) {
  return [this, rank](std::string_view text) {
    if (const auto line = live_line(text)) {
      lines_.write(*line);
    } else if (options_.on_note) {
      options_.on_note(static_cast<int>(rank), text);
    }
  };
}

void RankProcesses::hear() {
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].listen(turns_, at_once, scratch_, note_of(r))) {
      watch_.heard_of(static_cast<int>(r));
    }
  }
}

// A closed pipe is a rank that ends. But a process that the rank has started may hold the pipe
// open, so now and then all are looked at.
void RankProcesses::reap() {
  const auto now = steady_clock::now();
  const bool all = now - last_sweep_ >= sweep;
  if (all) {
    last_sweep_ = now;
  }
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if ((all || ranks_[r].is_ending()) && ranks_[r].reap(turns_, scratch_, note_of(r))) {
      --running_;
    }
  }
}

void RankProcesses::look_for_silence() {
  const auto now = steady_clock::now();
  const auto passed = now - last_look_;
  if (passed < SilenceWatch::slice || kill_at_) {
    return;
  }
  last_look_ = now;
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (!ranks_[r].runs()) {
      continue;
    }
    if (auto why = watch_.look_at(static_cast<int>(r), passed)) {
      ranks_[r].call_silent(turns_, std::move(*why));
    }
  }
}

// A rank that has failed is the nearer cause: others may be stuck because of it.
void RankProcesses::look_for_deadlock() {
  if (!kill_at_ && !has_failed()) {
    failure_ = deadlocks_.look();
  }
}

// Before the job is ended: what everybody is doing.
void RankProcesses::look_around() {
  waits_ = pending_waits(job_);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    RankState& rank = job_.rank(static_cast<int>(r));
    std::string state = ranks_[r].runs() ? process_state(ranks_[r].pid()) : "dead";
    if (state == "dead" && rank.finished.load(std::memory_order_seq_cst)) {
      state = "returned";
    }
    last_seen_.push_back(last_seen_of(rank, ranks_[r].pid(), std::move(state)));
  }
  if (!failure_ && is_silence(ranks_[static_cast<std::size_t>(cause())].outcome)) {
    missing_ = missing_ranks(job_);
  }
}

// The others are told, get a short grace to end in order, and are killed.
void RankProcesses::end_job() {
  if (!kill_at_) {
    look_around();
    const auto first = static_cast<std::size_t>(cause());
    job_.abort(failure_ ? failure_->headline
                        : failure_text(static_cast<int>(first), ranks_[first].outcome));
    kill_at_ = steady_clock::now() + grace;
  } else if (steady_clock::now() >= *kill_at_) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      ranks_[r].stop(waits_[r], job_.abort_text());
    }
  }
}

}  // namespace

JobResult run_as_processes(SharedJob& job, const JobOptions& options, std::vector<int> listeners,
                           const RankFunction& fn) {
  return RankProcesses(job, options, std::move(listeners), fn).run();
}

}  // namespace ringside
