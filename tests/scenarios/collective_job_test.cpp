// What a measurement finds: right algorithms, planted faults, modelled times.
#include "scenarios/collective_job.hpp"

#include <gtest/gtest.h>

#include "runtime/launch.hpp"
#include "scenarios/collective_figures.hpp"
#include "scenarios/modelled_clocks.hpp"
#include "tests/scenarios/refusal.hpp"

namespace ringside {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

CollectiveRequest request_of(std::string_view operation, int ranks,
                             std::vector<std::size_t> sizes) {
  CollectiveRequest request{.operation = std::string(operation),
                            .algorithms = algorithms_of(operation),
                            .sizes = std::move(sizes),
                            .iterations = 1};
  request.settings.ranks = ranks;
  const auto& row = operation_row(operation, request.algorithms.front());
  request.ops = {row.reduces ? ReduceOp::sum : ReduceOp::none};
  return request;
}

CollectiveReport report_of(const CollectiveRequest& request, const RunCase& run = {}) {
  return {request, measure(
                       request, [](std::string_view) {}, run)};
}

// Every row × reduction, on `nodes` nodes.
void expect_all_right(int ranks, int nodes, DType dtype) {
  for (const auto& operation : measured_operations()) {
    const auto unit = size_unit(convention_of(operation), ranks, dtype);
    const auto sizes = operation == "barrier" ? std::vector<std::size_t>{0}
                                              : std::vector<std::size_t>{0, unit, 50 * unit};
    auto request = request_of(operation, ranks, sizes);
    request.dtype = dtype;
    request.root = convention_of(operation).rooted ? ranks - 1 : 0;
    request.settings.cluster.gpus_per_node = (ranks + nodes - 1) / nodes;
    if (request.ops.front() != ReduceOp::none) {
      request.ops = {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg};
    }
    const auto report = report_of(request);
    EXPECT_TRUE(all_hold(checks_of(report))) << collective_text(report);
  }
}

TEST(CollectiveJob, EveryRowOfEveryOperationIsRightAndCostsWhatItClaims) {
  for (const int ranks : {1, 3, 4}) {
    expect_all_right(ranks, 1, DType::f32);
  }
  expect_all_right(5, 2, DType::f64);
  expect_all_right(4, 2, DType::i32);
}

TEST(CollectiveJob, EveryTypeIsChecked) {
  for (const auto dtype : {DType::bf16, DType::f16, DType::i64, DType::u8}) {
    expect_all_right(3, 1, dtype);
  }
}

TEST(CollectiveJob, AutoIsTheRowThatItPicksForEachSize) {
  auto request = request_of("all_reduce", 8, {4096, 1 << 20});
  request.algorithms = {"auto"};
  const auto cases = cases_of(request);
  EXPECT_EQ(cases[0].row->algorithm, chosen("all_reduce", "auto", false, 4096));
  EXPECT_EQ(cases[1].row->algorithm, chosen("all_reduce", "auto", false, 1 << 20));
  request.settings.cluster.gpus_per_node = 4;
  EXPECT_EQ(cases_of(request)[1].row->algorithm, chosen("all_reduce", "auto", true, 1 << 20));
}

void skip_the_last_rank(Comm& comm, const CollectiveCase& what, Placement placement, Buffer data,
                        Buffer other, int root) {
  if (comm.rank() == comm.size() - 1) {
    std::fill_n(data.data, data.bytes(), std::byte{0});
  }
  run_placed(comm, *what.row, placement, data, other, what.op, root);
}

TEST(CollectiveJob, ALostContributionIsCountedOnEveryRank) {
  auto request = request_of("all_reduce", 4, {400});
  const auto report = report_of(request, skip_the_last_rank);
  for (const auto& row : report.rows) {
    EXPECT_EQ(row.placements.front().wrong, 4 * 100);
  }
  EXPECT_FALSE(all_hold(checks_of(report)));
  EXPECT_EQ(collective_json(report)["verdict"], "fail");
  EXPECT_TRUE(has(collective_text(report), "FAILED"));
  request.check = false;
  EXPECT_TRUE(all_hold(checks_of(report_of(request, skip_the_last_rank)))) << "nobody looked";
}

void send_twice(Comm& comm, const CollectiveCase& what, Placement placement, Buffer data,
                Buffer other, int root) {
  run_placed(comm, *what.row, placement, data, other, what.op, root);
  comm.send_recv(comm.next(), data.slice(0, 1), comm.prev(), data.slice(0, 1));
}

TEST(CollectiveJob, DearerThanClaimedIsCaught) {
  const auto report = report_of(request_of("all_reduce", 3, {400}), send_twice);
  const auto checks = checks_of(report);
  EXPECT_EQ(checks[0].verdict, CheckVerdict::pass) << "the result is right";
  EXPECT_EQ(checks[1].verdict, CheckVerdict::fail);
}

TEST(CollectiveJob, AModelledTimeIsExactWhateverCameBefore) {
  auto request = request_of("all_reduce", 8, {1 << 20, 64, 1 << 20});
  request.algorithms = {"ring"};
  const auto report = report_of(request);
  const Time megabyte = 14 * (Time(microseconds(1)) + time_for(1 << 17, Rate{160'000'000'000}));
  EXPECT_EQ(report.rows[0].placements[0].modelled, megabyte);
  EXPECT_EQ(report.rows[2].placements[0].modelled, megabyte);
}

TEST(CaseM2, ModelledTimesOfTinySizesAreFiniteAndDoNotDecrease) {
  for (const auto& operation : measured_operations()) {
    auto request = request_of(operation, 8, {0});
    request.dtype = DType::u8;
    if (operation != "barrier") {
      request.sizes = convention_of(operation).count_per_rank
                          ? std::vector<std::size_t>{0, 8, 56, 64, 1024}
                          : std::vector<std::size_t>{0, 1, 7, 8, 1024};
    }
    const auto report = report_of(request);
    EXPECT_TRUE(all_hold(checks_of(report))) << operation;
    for (std::size_t i = 0; i < report.rows.size(); ++i) {
      const Time t = report.rows[i].placements.front().modelled;
      EXPECT_GE(t, Time{0}) << operation;
      EXPECT_LT(t, microseconds(1000)) << operation;
      if (i % request.sizes.size() > 0) {
        EXPECT_GE(t, report.rows[i - 1].placements.front().modelled) << operation;
      } else {
        EXPECT_EQ(t % microseconds(1), Time{0}) << "nothing costs latency only";
      }
    }
  }
}

TEST(CaseM2, ClaimsHoldFor4096Ranks) {
  for (const auto& row : operation_rows()) {
    CollectiveReport report{.request = request_of(row.operation, 4096, {})};
    report.request.dtype = DType::u8;
    report.request.settings.cluster.gpus_per_node = 4096;
    std::int64_t before = 0;
    for (const std::size_t bytes : {0UL, 1UL, 7UL, 8UL, 100UL, 1024UL}) {
      const Claim claim = claim_of(report, {.row = &row, .bytes = bytes, .count = bytes});
      EXPECT_GE(claim.all_bytes, before) << row.operation << " " << row.algorithm << " " << bytes;
      EXPECT_LE(claim.steps, 2 * 4095) << row.operation << " " << row.algorithm;
      before = claim.all_bytes;
    }
  }
  const auto& ring = operation_row("all_reduce", "ring");
  CollectiveReport report{.request = request_of("all_reduce", 4096, {})};
  report.request.dtype = DType::u8;
  report.request.settings.cluster.gpus_per_node = 4096;
  const Claim claim = claim_of(report, {.row = &ring, .bytes = 100, .count = 100});
  EXPECT_EQ(claim.steps, 8190);
  EXPECT_EQ(claim.most_bytes, 200);
}

TEST(ModelledClocks, AllRanksMeetFromWhereverTheyStand) {
  for (const int gpus_per_node : {0, 2}) {
    JobOptions options;
    options.cluster.gpus_per_node = gpus_per_node;
    const auto times = run_ranks(5, options, [](Rank& rank) {
      rank.advance_to(Time(nanoseconds(rank.id() * 777)));
      align_modelled_clocks(rank.world());
      return rank.now();
    });
    for (const Time t : times) {
      EXPECT_EQ(t, times.front());
      EXPECT_GE(t, Time(nanoseconds(4 * 777)));
    }
  }
}

// Algorithms that copy find room for it, averages of f16 in f32 too.
TEST(CollectiveJob, LargeBuffersHaveRoomForEveryAlgorithm) {
  auto request = request_of("all_reduce", 4, {16UL << 20});
  request.dtype = DType::f16;
  request.ops = {ReduceOp::avg};
  request.iterations = 1;
  EXPECT_TRUE(all_hold(checks_of(report_of(request))));
}

TEST(CollectiveJob, RefusesWithNumbersWhatDoesNotFit) {
  const auto request = request_of("all_reduce", 8, {1UL << 40});
  const auto text = refusal_of([&] { check_memory(request); });
  EXPECT_TRUE(has(text, "all_reduce of 1.0995 TB on 8 ranks needs")) << text;
  EXPECT_TRUE(has(text, "are available: give a smaller -e or fewer ranks")) << text;
}

}  // namespace
}  // namespace ringside
