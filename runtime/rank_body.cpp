#include "runtime/rank_body.hpp"

#include <cxxabi.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <typeinfo>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

constexpr std::chrono::milliseconds longest_stay(200);  // of a rank that has failed

std::string demangled(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : type.name();
}

RankOutcome outcome_of(Ending ending, std::string type, std::string text) {
  RankOutcome outcome;
  outcome.ending = ending;
  outcome.type = std::move(type);
  outcome.text = std::move(text);
  return outcome;
}

// What the exception that is being handled says of the rank.
RankOutcome outcome_of_exception() {
  try {
    throw;
  } catch (const JobAborted& e) {
    return outcome_of(Ending::stopped, "JobAborted", e.what());
  } catch (const BadUse& e) {
    return outcome_of(Ending::threw, "BadUse", e.what());
  } catch (const PeerLost& e) {
    return outcome_of(Ending::threw, "PeerLost", e.what());
  } catch (const Desync& e) {
    return outcome_of(Ending::threw, "Desync", e.what());
  } catch (const Deadlock& e) {
    return outcome_of(Ending::threw, "Deadlock", e.what());
  } catch (const OutOfDeviceMemory& e) {
    return outcome_of(Ending::threw, "OutOfDeviceMemory", e.what());
  } catch (const std::exception& e) {
    return outcome_of(Ending::threw, demangled(typeid(e)), e.what());
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    return outcome_of(Ending::threw, type != nullptr ? demangled(*type) : "unknown", "");
  }
}

// All ranks begin together; parked, so that they leave the cores to the forks of the others.
void wait_for_start(SharedJob& job, int id) {
  Bell& bell = job.rank(id).mailbox.bell;
  const auto started = [&] { return job.job().wall_start_ns.load(std::memory_order_seq_cst) != 0; };
  while (!started()) {
    if (job.job().aborted.load(std::memory_order_seq_cst)) {
      throw JobAborted("stopped before its start: another rank could not be started");
    }
    const auto seen = bell.rings();
    bell.will_sleep();
    if (!started()) {
      bell.park(seen, std::chrono::milliseconds(500));
    }
    bell.awake();
  }
}

}  // namespace

void run_body(const RankBody& body) {
  RankOutcome outcome;
  std::unique_ptr<Rank> rank;
  try {
    rank = std::make_unique<Rank>(body.id, body.job, body.options, body.listeners, body.send_note);
    body.when_built();
    wait_for_start(body.job, body.id);
    std::string value = body.fn(*rank);
    rank->finish();
    outcome.ending = Ending::returned;
    outcome.value = std::move(value);
  } catch (...) {
    outcome = outcome_of_exception();
  }
  if (rank != nullptr) {
    try {
      outcome.report = rank->report();
    } catch (const std::exception&) {
      outcome.report = {};  // what there was is lost; the failure itself is not
    }
  }
  body.deliver(outcome);
}

void await_end(SharedJob& job, int id) {
  Bell& bell = job.rank(id).mailbox.bell;
  const auto until = std::chrono::steady_clock::now() + longest_stay;
  const auto ended = [&] { return job.job().aborted.load(std::memory_order_seq_cst); };
  while (!ended() && std::chrono::steady_clock::now() < until) {
    const auto seen = bell.rings();
    bell.will_sleep();
    if (!ended()) {
      bell.park(seen, longest_stay);
    }
    bell.awake();
  }
}

void release_ranks(SharedJob& job) {
  job.job().wall_start_ns.store(steady_ns(), std::memory_order_seq_cst);
  for (int r = 0; r < job.ranks(); ++r) {
    job.rank(r).mailbox.bell.ring();
  }
}

}  // namespace ringside
