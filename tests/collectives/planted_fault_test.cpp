// Negative controls: wrong algorithms, of the kinds that students and engineers write, must be
// caught by the very function that judges the built-in ones.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "collectives/chunk.hpp"
#include "runtime/reduce.hpp"
#include "tests/collectives/reference.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

// A ring with every screw that can be turned the wrong way; as it stands, the right one.
struct Ring {
  int reduce_steps_left_out = 0;
  int gather_steps_left_out = 0;
  int gather_shift = 0;
  bool adds = true;              // or overwrites
  bool finishes = true;          // divides for avg
  int lost_by_rank = -1;         // whose numbers count as zero
  int one_too_many_to = -1;      // rank 0 sends it a message more than it takes
  bool wrong_rank_only = false;  // only rank 2 errs

  void run(Comm& comm, Buffer data, ReduceOp op) const {
    const int me = comm.rank();
    const int p = comm.size();
    if (me == lost_by_rank) {
      std::memset(data.data, 0, data.bytes());
    }
    for (int step = 0; step < p - 1 - reduce_steps_left_out; ++step) {
      comm.next_step("reduce_scatter");
      const Buffer out = chunk(data, comm, me - step - 1);
      const Buffer in = chunk(data, comm, me - step - 2);
      if (adds || (wrong_rank_only && me != 2)) {
        comm.send_recv_reduce(comm.next(), out, comm.prev(), in, op);
      } else {
        comm.send_recv(comm.next(), out, comm.prev(), in);
      }
    }
    for (int step = 0; step < p - 1 - gather_steps_left_out; ++step) {
      comm.next_step("all_gather");
      comm.send_recv(comm.next(), chunk(data, comm, me - step + gather_shift),  //
                     comm.prev(), chunk(data, comm, me - step - 1 + gather_shift));
    }
    if (one_too_many_to >= 0 && me == 0) {
      comm.send(one_too_many_to, data.slice(0, 1));
    }
    if (finishes) {
      finish_average(data, op, p);
    }
  }
};

// How many ranks of 4 found a fault in an all-reduce of 16 elements, and what they said.
struct Verdict {
  int faults = 0;
  std::string text;
};

Verdict verdict_on(const JobOptions& options, const RunCall& run, ReduceOp op) {
  const Call call{"all_reduce", 16, DType::f32, op};
  const auto texts = run_ranks(
      4, options, [&](Rank& rank) -> std::string { return judge(rank.world(), call, run); });
  Verdict verdict;
  for (const auto& text : texts) {
    verdict.faults += text.empty() ? 0 : 1;
    verdict.text += text + "\n";
  }
  return verdict;
}

Verdict verdict_on(const JobOptions& options, const Ring& ring, ReduceOp op = ReduceOp::sum) {
  return verdict_on(
      options,
      [&](Comm& comm, Buffer data, Buffer) {
        comm.launch({.count = data.count,
                     .operation = std::string_view("all_reduce"),
                     .algorithm = std::string_view("planted"),
                     .dtype = data.dtype,
                     .reduction = op},
                    [&] { ring.run(comm, data, op); })
            .wait();
      },
      op);
}

class PlantedFault : public ShapedTest {};

TEST_P(PlantedFault, TheRightRingPasses) {
  for (const auto op : {ReduceOp::sum, ReduceOp::avg, ReduceOp::max}) {
    const auto verdict = verdict_on(GetParam().options(), Ring{}, op);
    EXPECT_EQ(verdict.faults, 0) << verdict.text;
  }
}

TEST_P(PlantedFault, OffByOneChunkIsCaught) {
  EXPECT_EQ(verdict_on(GetParam().options(), {.gather_shift = 1}).faults, 4);
  EXPECT_EQ(verdict_on(GetParam().options(), {.gather_shift = -1}).faults, 4);
}

TEST_P(PlantedFault, ASkippedStepIsCaught) {
  EXPECT_EQ(verdict_on(GetParam().options(), {.reduce_steps_left_out = 1}).faults, 4);
  EXPECT_EQ(verdict_on(GetParam().options(), {.gather_steps_left_out = 1}).faults, 4);
}

TEST_P(PlantedFault, OverwritingInPlaceOfAddingIsCaught) {
  EXPECT_EQ(verdict_on(GetParam().options(), {.adds = false}).faults, 4);
  EXPECT_EQ(verdict_on(GetParam().options(), {.adds = false, .wrong_rank_only = true}).faults, 4);
}

TEST_P(PlantedFault, ALostContributionIsCaught) {
  const auto verdict = verdict_on(GetParam().options(), {.lost_by_rank = 3});
  EXPECT_EQ(verdict.faults, 4);
  EXPECT_NE(verdict.text.find("all_reduce of 16 f32, sum"), std::string::npos) << verdict.text;
}

TEST_P(PlantedFault, AForgottenDivisionIsCaught) {
  EXPECT_EQ(verdict_on(GetParam().options(), {.finishes = false}, ReduceOp::avg).faults, 4);
}

// Rank 3 hears nothing from rank 0 in the barrier that follows: with buffering, the message is left
// in its mailbox; without, rank 0 waits for it to be taken.
TEST_P(PlantedFault, AMessageTooManyIsCaught) {
  const JobOptions options = GetParam().options();
  if (options.eager_limit > 0) {  // seen when all ranks have returned
    try {
      verdict_on(options, {.one_too_many_to = 3});
      ADD_FAILURE() << "nothing was noticed";
    } catch (const Desync& error) {
      EXPECT_NE(std::string(error.what())
                    .find("1 message of all_reduce on group world was sent and never received"),
                std::string::npos)
          << error.what();
    }
    return;
  }
  EXPECT_THROW(verdict_on(options, {.one_too_many_to = 3}), Deadlock);
}

// Rank 1 hears from rank 0 in the barrier, and gets the message of the operation before.
TEST_P(PlantedFault, AMessageTooManyIsNotTakenForTheNextOperations) {
  try {
    verdict_on(GetParam().options(), {.one_too_many_to = 1});
    ADD_FAILURE() << "nothing was noticed";
  } catch (const Desync& error) {
    const std::string text = error.what();
    for (const std::string part : {"rank 1 is in barrier (dissemination) #1", "rank 0, from which",
                                   "is in all_reduce (planted, sum) #0 of 16 f32"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
    }
  }
}

TEST_P(PlantedFault, WritingPastTheEndIsCaught) {
  const auto overrun = [](Comm&, Buffer data, Buffer) {
    Buffer longer = data;
    ++longer.count;
    longer.as<float>()[data.count] = 0;
  };
  const auto verdict = verdict_on(GetParam().options(), overrun, ReduceOp::sum);
  EXPECT_EQ(verdict.faults, 4);
  EXPECT_NE(verdict.text.find("wrote past the end"), std::string::npos) << verdict.text;
}

INSTANTIATE_TEST_SUITE_P(Shapes, PlantedFault, testing::ValuesIn(one_node_shapes()), shape_name);

}  // namespace
}  // namespace ringside
