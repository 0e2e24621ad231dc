// Random programs, without buffering: those that cannot deadlock raise no alarm, those that do are
// found with the cycle that a simulation of the program finds. RINGSIDE_RANDOM_PROGRAMS=10000 sets
// the number of good ones; a tenth as many deadlock.
#include <gtest/gtest.h>

#include <cstdlib>

#include "collectives/all_reduce.hpp"
#include "collectives/barrier.hpp"
#include "collectives/broadcast.hpp"
#include "runtime/errors.hpp"
#include "tests/support/program_simulation.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using Kind = ProgramStep::Kind;

int good_programs() {
  const char* wanted = std::getenv("RINGSIDE_RANDOM_PROGRAMS");
  return wanted != nullptr ? std::atoi(wanted) : 1000;
}

// One node or two, with and without random delays.
JobOptions options_of(unsigned seed, Ranks as) {
  JobOptions options = small_job(as);
  options.eager_limit = 0;
  options.log = LogLevel::none;
  options.disturb = seed % 3 == 0 ? seed + 1 : 0;
  options.cluster.gpus_per_node = seed % 5 == 0 ? 2 : 0;
  return options;
}

class ProgramRun {
 public:
  ProgramRun(Rank& rank, const RandomProgram& program) : rank_(rank) {
    for (std::size_t g = 0; g < program.groups.size(); ++g) {
      const auto& members = program.groups[g];
      const bool mine = std::find(members.begin(), members.end(), rank.id()) != members.end();
      groups_.push_back(mine ? std::make_unique<Comm>(rank, "group" + std::to_string(g), members)
                             : nullptr);
    }
    for (const ProgramStep& step : program.steps[static_cast<std::size_t>(rank.id())]) {
      run(step);
    }
  }

 private:
  void run(const ProgramStep& step) {
    Comm& world = rank_.world();
    const Buffer one = buffer_of(std::span(&value_, 1));
    switch (step.kind) {
      case Kind::send:
        value_ = step.id;
        return world.send(step.peer, one, step.id);
      case Kind::isend:
        sent_[step.id] = step.id;
        open_.emplace(step.id,
                      world.isend(step.peer, buffer_of(std::span(&sent_[step.id], 1)), step.id));
        return;
      case Kind::wait:
        open_.at(step.id).wait();
        return;
      case Kind::recv:
        world.recv(step.peer, one, step.id);
        EXPECT_EQ(value_, step.id);
        return;
      default:
        return run_collective(step, *groups_[static_cast<std::size_t>(step.group)]);
    }
  }

  void run_collective(const ProgramStep& step, Comm& comm) {
    std::vector<std::int32_t> data(8, comm.rank());
    if (step.kind == Kind::barrier) {
      barrier(comm, {"dissemination"});
    } else if (step.kind == Kind::all_reduce) {
      all_reduce(comm, buffer_of(std::span(data)), ReduceOp::max, {"ring"});
      EXPECT_EQ(data.back(), comm.size() - 1);
    } else {
      broadcast(comm, buffer_of(std::span(data)), step.peer, {"linear"});
      EXPECT_EQ(data.back(), step.peer);
    }
  }

  Rank& rank_;
  std::vector<std::unique_ptr<Comm>> groups_;
  std::int32_t value_ = 0;
  std::map<int, std::int32_t> sent_;
  std::map<int, Request> open_;
};

// Many programs a job, one after the other.
void run_good_ones(int programs, Ranks as) {
  constexpr int a_job = 50;
  for (int first = 0; first < programs; first += a_job) {
    const auto job = static_cast<unsigned>(first / a_job);
    const int ranks = 2 + static_cast<int>(job % 4);
    const auto result = run_job_tested(ranks, options_of(job, as), [&](Rank& rank) {
      for (int i = 0; i < std::min(a_job, programs - first); ++i) {
        const auto program = ProgramGenerator(static_cast<unsigned>(first + i), ranks).good();
        ProgramRun(rank, program);
      }
    });
    ASSERT_TRUE(result.ok()) << "job " << job << ": " << result.describe();
  }
}

struct Found {
  double worst_ms = 0;
  double sum_ms = 0;
  int cycles = 0;
};

void run_deadlocking_one(unsigned seed, Ranks as, Found& found) {
  const int ranks = 2 + static_cast<int>(seed % 4);
  const auto program = ProgramGenerator(seed, ranks).deadlocking();
  const ProgramSimulation truth(program);
  const auto cycle = truth.cycle();
  ASSERT_EQ(cycle.size(), program.cycle.size()) << "seed " << seed;
  const auto result =
      run_job_tested(ranks, options_of(seed, as), [&](Rank& rank) { ProgramRun(rank, program); });
  ASSERT_TRUE(result.failure) << "seed " << seed << ": " << result.describe();
  EXPECT_EQ(result.failure->type, "Deadlock");
  std::string arrows = "deadlock: rank ";
  for (const int r : cycle) {
    arrows += std::to_string(r) + " -> ";
    const int peer = *truth.waits_for[static_cast<std::size_t>(r)];
    const std::string line = "rank " + std::to_string(r) + ": ";
    const std::string& text = result.failure->text;
    EXPECT_TRUE(text.find(line + "recv from rank " + std::to_string(peer) + " ") !=
                    std::string::npos ||
                text.find(line + "send to rank " + std::to_string(peer) + " ") != std::string::npos)
        << "seed " << seed << ": " << text;
    EXPECT_TRUE(std::count(result.failure->ranks.begin(), result.failure->ranks.end(), r) == 1);
  }
  EXPECT_EQ(result.failure->headline, arrows + std::to_string(cycle.front())) << "seed " << seed;
  for (const int r : result.failure->ranks) {
    EXPECT_TRUE(truth.waits_for[static_cast<std::size_t>(r)]) << "seed " << seed << ", rank " << r;
  }
  const double ms = static_cast<double>(result.wall.count()) / 1e6;
  found.worst_ms = std::max(found.worst_ms, ms);
  found.sum_ms += ms;
  ++found.cycles;
}

void run_deadlocking_ones(int programs, Ranks as) {
  Found found;
  for (int seed = 0; seed < programs && !testing::Test::HasFailure(); ++seed) {
    run_deadlocking_one(static_cast<unsigned>(seed), as, found);
  }
  std::printf("%d cycles found, %.1f ms from start to end, worst %.1f ms\n", found.cycles,
              found.sum_ms / std::max(found.cycles, 1), found.worst_ms);
}

TEST(RandomPrograms, TheSimulationAgreesWithTheGenerator) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const int ranks = 2 + static_cast<int>(seed % 4);
    const auto good = ProgramGenerator(seed, ranks).good();
    for (const auto& wait : ProgramSimulation(good).waits_for) {
      ASSERT_FALSE(wait) << "seed " << seed;
    }
    const auto bad = ProgramGenerator(seed, ranks).deadlocking();
    auto planted = bad.cycle;
    std::rotate(planted.begin(), std::min_element(planted.begin(), planted.end()), planted.end());
    ASSERT_EQ(ProgramSimulation(bad).cycle(), planted) << "seed " << seed;
  }
}

TEST(RandomPrograms, GoodOnesRaiseNoAlarm) {
  run_good_ones(good_programs(), Ranks::processes);
}

TEST(RandomPrograms, DeadlockingOnesAreAllFoundWithTheirCycle) {
  run_deadlocking_ones(good_programs() / 10, Ranks::processes);
}

TEST(RandomProgramsThreads, GoodOnesRaiseNoAlarm) {
  run_good_ones(200, Ranks::threads);
}

TEST(RandomProgramsThreads, DeadlockingOnesAreAllFoundWithTheirCycle) {
  run_deadlocking_ones(20, Ranks::threads);
}

}  // namespace
}  // namespace ringside
