// Meta buffers: the messages, modelled times and ledger of real data, and no data.
#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "collectives/all_reduce.hpp"
#include "collectives/all_to_all.hpp"
#include "collectives/collectives.hpp"
#include "runtime/errors.hpp"
#include "runtime/traffic_log.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

struct Call {
  std::string_view operation;
  std::string_view algorithm;
  std::size_t count = 0;
  DType dtype = DType::f32;
  ReduceOp op = ReduceOp::sum;
};

// What a job has to show for itself: its traffic but for the wall clock, and every rank's end.
struct Trace {
  std::string traffic;
  std::vector<std::int64_t> modelled_ps;
  std::vector<std::int64_t> peak_bytes;

  bool operator==(const Trace&) const = default;
};

Trace trace_of(const JobResult& job) {
  EXPECT_TRUE(job.ok()) << job.describe();
  Trace trace;
  std::vector<RankReport> reports;
  for (const auto& rank : job.ranks) {
    reports.push_back(rank.report);
    trace.modelled_ps.push_back(rank.report.modelled.count());
    trace.peak_bytes.push_back(rank.report.memory.total_peak);
  }
  const TemporaryFolder folder;
  write_traffic_log(folder / "traffic.jsonl", reports);
  std::ifstream file(folder / "traffic.jsonl");
  for (std::string line; std::getline(file, line);) {
    trace.traffic += line.substr(0, line.find(",\"wall_ns\"")) + '\n';  // its last key
  }
  return trace;
}

Trace trace_of(JobOptions options, int p, Backing memory, const std::vector<Call>& calls) {
  options.memory = memory;
  options.log = LogLevel::full;
  return trace_of(run_job_tested(p, options, [&](Rank& rank) {
    for (const Call& call : calls) {
      const Tensor data(rank.memory(), call.dtype, {call.count}, Category::gradients, "data");
      const Tensor out(rank.memory(), call.dtype, {call.count}, Category::buffers, "out");
      EXPECT_EQ(data.meta(), memory == Backing::meta);
      run_operation(rank.world(), call.operation, call.algorithm, data.buffer(), out.buffer(),
                    call.op, 0);
    }
  }));
}

std::vector<Call> calls_of(const OperationRow& row, int p) {
  const auto ranks = static_cast<std::size_t>(p);
  const std::size_t more = row.equal_parts ? 0 : 1;
  std::vector<Call> calls;
  for (const std::size_t count : {std::size_t{0}, ranks - more, 300 * ranks + more}) {
    calls.push_back(
        {row.operation, row.algorithm, row.equal_parts ? count / ranks * ranks : count});
  }
  if (row.reduces) {
    calls.push_back({row.operation, row.algorithm, 50, DType::f16, ReduceOp::avg});
  }
  return calls;
}

class MetaBuffers : public ShapedTest {};

TEST_P(MetaBuffers, HaveTheTrafficTimesAndLedgerOfRealOnesInEveryAlgorithm) {
  for (const int p : {3, 8}) {
    for (const auto& row : operation_rows()) {
      const auto calls = calls_of(row, p);
      const Trace real = trace_of(GetParam().options(), p, Backing::real, calls);
      const Trace meta = trace_of(GetParam().options(), p, Backing::meta, calls);
      EXPECT_TRUE(real == meta) << row.operation << " " << row.algorithm << " on " << p
                                << " ranks, real:\n"
                                << real.traffic << "meta:\n"
                                << meta.traffic;
    }
  }
}

// Negative control: an element more is seen.
TEST_P(MetaBuffers, AnElementMoreIsAnotherTrace) {
  const JobOptions options = GetParam().options();
  const Trace real = trace_of(options, 4, Backing::real, {{"all_reduce", "ring", 1000}});
  const Trace meta = trace_of(options, 4, Backing::meta, {{"all_reduce", "ring", 1001}});
  EXPECT_NE(real.traffic, meta.traffic);
  EXPECT_NE(real.modelled_ps, meta.modelled_ps);
  EXPECT_NE(real.peak_bytes, meta.peak_bytes);
}

// Ranks 0 and 1 give and get nothing, and forward what others send.
Trace forwarded(JobOptions options, Backing memory) {
  options.memory = memory;
  options.log = LogLevel::full;
  return trace_of(run_job_tested(8, options, [](Rank& rank) {
    std::vector<std::size_t> counts(8, 0);
    if (rank.id() > 1) {
      std::fill(counts.begin() + 2, counts.end(), 70);
    }
    const std::size_t all = rank.id() > 1 ? 420 : 0;
    const Tensor in(rank.memory(), DType::f32, {all}, Category::buffers, "in");
    const Tensor out(rank.memory(), DType::f32, {all}, Category::buffers, "out");
    all_to_all_v(rank.world(), in.buffer(), counts, out.buffer(), counts, {"hierarchical"});
  }));
}

TEST_P(MetaBuffers, AreForwardedByRanksThatHaveNone) {
  EXPECT_EQ(forwarded(GetParam().options(), Backing::real).traffic,
            forwarded(GetParam().options(), Backing::meta).traffic);
}

// Counts of tokens, losses and the like stay numbers where the model is meta.
TEST_P(MetaBuffers, StandBesideRealNumbers) {
  JobOptions options = GetParam().options();
  options.memory = Backing::meta;
  run_ranks_tested(8, options, [](Rank& rank) {
    const Tensor gradients(rank.memory(), DType::bf16, {1000}, Category::gradients, "gradients");
    all_reduce(rank.world(), gradients.buffer());
    for (const std::string_view algorithm : {"ring", "direct", "one_shot", "hierarchical"}) {
      std::vector<std::int64_t> tokens{rank.id() + 1};
      all_reduce(rank.world(), buffer_of(std::span(tokens)), ReduceOp::sum, {algorithm});
      EXPECT_EQ(tokens.front(), 36) << algorithm;
    }
  });
}

TEST_P(MetaBuffers, AgainstRealOnesAreRefusedNamingBoth) {
  const auto result = run_job_tested(2, GetParam().options(), [](Rank& rank) {
    const Tensor data(rank.memory(), DType::f32, {1000}, Category::buffers, "data",
                      rank.id() == 0 ? Backing::meta : Backing::real);
    all_reduce(rank.world(), data.buffer());
  });
  ASSERT_FALSE(result.ok());
  const auto& cause = result.ranks[static_cast<std::size_t>(result.cause)];
  EXPECT_EQ(cause.type, "Desync");
  const std::string mine = result.cause == 0 ? "meta" : "real";
  const std::string theirs = result.cause == 0 ? "real" : "meta";
  for (const std::string& part :
       {"rank " + std::to_string(result.cause) + " expects 500 " + mine + " elements of f32",
        "which sent " + theirs + " ones in all_reduce (ring, sum) #0 of 1000 f32",
        std::string("both sides must hold data, or neither")}) {
    EXPECT_NE(cause.text.find(part), std::string::npos) << part << " in: " << cause.text;
  }
}

// A program that would block with real data blocks with none.
TEST_P(MetaBuffers, DoNotHideADeadlock) {
  JobOptions options = GetParam().options();
  options.memory = Backing::meta;
  const auto result = run_job_tested(2, options, [](Rank& rank) {
    const Tensor data(rank.memory(), DType::f32, {1000}, Category::buffers, "data");
    rank.world().send(1 - rank.id(), data.buffer());
    rank.world().recv(1 - rank.id(), data.buffer());
  });
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.describe().find("no receive was posted"), std::string::npos)
      << result.describe();
}

INSTANTIATE_TEST_SUITE_P(Shapes, MetaBuffers, testing::ValuesIn(job_shapes()), shape_name);

std::int64_t sum_over(const std::vector<std::int64_t>& values) {
  std::int64_t sum = 0;
  for (const auto value : values) {
    sum += value;
  }
  return sum;
}

struct Exchanged {
  std::int64_t sent = 0;
  std::int64_t received = 0;
};

// All-reduces the gradients of 27,781,427,952 parameters in bf16.
std::vector<Exchanged> anchor_all_reduce(int p, std::string_view algorithm) {
  return run_ranks_tested(p, {.memory = Backing::meta}, [&](Rank& rank) {
    const Tensor gradients(rank.memory(), DType::bf16, {27'781'427'952}, Category::gradients,
                           "gradients");
    EXPECT_EQ(rank.memory().ledger().total, 55'562'855'904);
    all_reduce(rank.world(), gradients.buffer(), ReduceOp::sum, {algorithm});
    Exchanged all;
    for (const auto& sum : rank.traffic().sums()) {
      all.sent += sum.sent_bytes;
      all.received += sum.received_bytes;
    }
    return all;
  });
}

// The figures DP07 to DP10 of the chapter, over ranks whose chunks differ by an element.
TEST(AnchorGradients, TravelAtTrueScale) {
  const auto mean_sent = [](const std::vector<Exchanged>& ranks) {
    std::vector<std::int64_t> sent;
    for (const auto& rank : ranks) {
      sent.push_back(rank.sent);
    }
    return sum_over(sent) / static_cast<std::int64_t>(ranks.size());
  };
  EXPECT_EQ(mean_sent(anchor_all_reduce(8, "ring")), 97'234'997'832);
  EXPECT_EQ(mean_sent(anchor_all_reduce(64, "ring")), 109'389'372'561);
  EXPECT_EQ(anchor_all_reduce(8, "naive")[0].received, 388'939'991'328);
  EXPECT_EQ(anchor_all_reduce(64, "naive")[0].received, 3'500'459'921'952);
}

TEST(AnchorGradients, DoNotFitWhereTheCapacityIsLess) {
  JobOptions options{.memory = Backing::meta};
  options.cluster.capacity = Bytes{80'000'000'000};
  const auto result = run_job_tested(2, options, [](Rank& rank) {
    const Tensor weights(rank.memory(), DType::bf16, {27'781'427'952}, Category::weights, "w");
    const Tensor gradients(rank.memory(), DType::bf16, {27'781'427'952}, Category::gradients, "g");
  });
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.ranks[static_cast<std::size_t>(result.cause)].type, "OutOfDeviceMemory");
}

}  // namespace
}  // namespace ringside
