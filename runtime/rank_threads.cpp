#include "runtime/rank_threads.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "runtime/cause.hpp"
#include "runtime/deadlock_watch.hpp"
#include "runtime/errors.hpp"
#include "runtime/live_log.hpp"
#include "runtime/patient_output.hpp"
#include "runtime/process.hpp"

namespace ringside {

namespace {

class RankThreads {
 public:
  RankThreads(SharedJob& job, const JobOptions& options, const std::vector<int>& listeners,
              const RankFunction& fn)
      : job_(job),
        options_(options),
        listeners_(listeners),
        fn_(fn),
        noticed_(static_cast<std::size_t>(job.ranks())) {
    result_.ranks.resize(noticed_.size());
  }

  JobResult run();

 private:
  void start_all(std::vector<std::jthread>& threads);
  void live(int id);
  void deliver(int id, const RankOutcome& outcome);
  void watch(const std::stop_token& stop);
  void end_job(const std::string& cause);
  int cause() const;

  SharedJob& job_;
  const JobOptions& options_;
  const std::vector<int>& listeners_;
  const RankFunction& fn_;
  std::mutex notes_;
  PatientOutput lines_;  // of the live view
  std::mutex results_;
  JobResult result_;
  std::vector<std::uint64_t> noticed_;
  std::uint64_t deliveries_ = 0;
  bool has_failed_ = false;
};

JobResult RankThreads::run() {
  std::vector<std::jthread> threads;
  start_all(threads);
  release_ranks(job_);
  const auto start = std::chrono::steady_clock::now();
  {
    const std::jthread watcher([this](const std::stop_token& stop) { watch(stop); });
    threads.clear();  // joins
  }
  lines_.finish();
  result_.wall = std::chrono::steady_clock::now() - start;
  result_.cause = cause();
  result_.stopped_for = job_.abort_text();
  return std::move(result_);
}

void RankThreads::start_all(std::vector<std::jthread>& threads) {
  for (int id = 0; id < job_.ranks(); ++id) {
    try {
      threads.emplace_back([this, id] { live(id); });
    } catch (const std::system_error& error) {
      job_.abort();
      threads.clear();
      throw BadUse("only " + std::to_string(id) + " of " + std::to_string(job_.ranks()) +
                   " ranks could be started as threads (" + error.what() +
                   "); use fewer ranks, or raise the limit of processes (ulimit -u)");
    }
  }
}

void RankThreads::live(int id) {
  run_body({.id = id,
            .job = job_,
            .options = options_,
            .listeners = listeners_,
            .fn = fn_,
            .send_note =
                [&](std::string_view text) {
                  const std::scoped_lock lock(notes_);
                  if (const auto line = live_line(text)) {
                    lines_.write(*line);
                  } else if (options_.on_note) {
                    options_.on_note(id, text);
                  }
                },
            .when_built = [] {},
            .deliver = [&](const RankOutcome& outcome) { deliver(id, outcome); }});
}

void RankThreads::deliver(int id, const RankOutcome& outcome) {
  const std::scoped_lock lock(results_);
  result_.ranks[static_cast<std::size_t>(id)] = outcome;
  noticed_[static_cast<std::size_t>(id)] = ++deliveries_;
  if (outcome.ending != Ending::returned) {
    if (!has_failed_ && is_silence(outcome)) {
      result_.missing = missing_ranks(job_);
    }
    end_job(failure_text(id, outcome));
  }
}

// Called under the lock of the results.
void RankThreads::end_job(const std::string& cause) {
  for (int r = 0; r < job_.ranks() && !has_failed_; ++r) {
    result_.last_seen.push_back(last_seen_of(job_.rank(r), own_process(), ""));
  }
  has_failed_ = true;
  job_.abort(cause);
}

void RankThreads::watch(const std::stop_token& stop) {
  DeadlockWatch deadlocks(job_);
  std::condition_variable_any stopped;
  std::unique_lock lock(results_);
  while (!stop.stop_requested() && !has_failed_) {
    if (auto failure = deadlocks.look()) {
      result_.failure = std::move(failure);
      end_job(result_.failure->headline);
    }
    stopped.wait_for(lock, stop, deadlocks.interval(), [] { return false; });
  }
}

int RankThreads::cause() const {
  if (result_.failure) {
    return result_.failure->ranks.front();
  }
  std::vector<const RankOutcome*> outcomes;
  for (const RankOutcome& outcome : result_.ranks) {
    outcomes.push_back(&outcome);
  }
  return find_cause(outcomes, noticed_);
}

}  // namespace

JobResult run_as_threads(SharedJob& job, const JobOptions& options,
                         const std::vector<int>& listeners, const RankFunction& fn) {
  return RankThreads(job, options, listeners, fn).run();
}

}  // namespace ringside
