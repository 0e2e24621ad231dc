#include "runtime/operation_log.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "runtime/comm.hpp"
#include "runtime/errors.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

OperationRecord record(std::uint64_t sequence, std::string_view operation = "all_reduce") {
  return {.signature = {.sequence = sequence,
                        .count = 1000,
                        .operation = operation,
                        .algorithm = std::string_view("ring"),
                        .reduction = ReduceOp::sum},
          .group = 7,
          .group_name = std::string_view("dp")};
}

TEST(OperationLog, IsEmptyAtFirst) {
  const OperationLog log;
  EXPECT_TRUE(log.last().empty());
  EXPECT_FALSE(log.current() || log.finished());
}

TEST(OperationLog, KeepsTheLastOnes) {
  OperationLog log;
  for (std::uint64_t i = 0; i < 20; ++i) {
    log.end(log.begin(record(i)));
  }
  const auto number = log.begin(record(20));
  log.step(number, 4);
  const auto last = log.last();
  ASSERT_EQ(last.size(), OperationLog::kept);
  EXPECT_EQ(last.front().operation.signature.sequence, 13U);
  EXPECT_EQ(text_of(*log.current()), "all_reduce (ring, sum) #20 of 1000 f32 in group dp, step 4");
  EXPECT_EQ(text_of(*log.finished()), "all_reduce (ring, sum) #19 of 1000 f32 in group dp");
}

TEST(OperationLog, OfNestedOperationsTheInnermostIsCurrent) {
  OperationLog log;
  const auto outer = log.begin(record(1, "outer"));
  const auto inner = log.begin(record(2, "inner"));
  EXPECT_EQ(std::string_view(log.current()->operation.signature.operation), "inner");
  log.end(inner);
  EXPECT_EQ(std::string_view(log.current()->operation.signature.operation), "outer");
  for (std::uint64_t i = 0; i < OperationLog::kept; ++i) {
    log.end(log.begin(record(i, "inner")));
  }
  log.end(outer);  // has been overwritten: no other is ended in its place
  const auto next = log.begin(record(9, "next"));
  EXPECT_EQ(std::string_view(log.current()->operation.signature.operation), "next");
  log.end(next);
  EXPECT_FALSE(log.current());
}

TEST(OperationLog, DisagreementIsOfOneCallOfOneGroup) {
  EXPECT_FALSE(disagree(record(1), record(1)));
  EXPECT_TRUE(disagree(record(1), record(1, "barrier")));
  EXPECT_FALSE(disagree(record(1), record(2, "barrier")));
  OperationRecord elsewhere = record(1, "barrier");
  elsewhere.group = 8;
  EXPECT_FALSE(disagree(record(1), elsewhere));
}

class OperationLogJob : public ShapedTest {};

TEST_P(OperationLogJob, IsShownForEveryRankWhenOneFails) {
  const auto result = run_job(3, GetParam().options(), [](Rank& rank) -> std::string {
    std::int32_t data = 0;
    const auto pass_on = [&] {
      rank.world().next_step("on");
      if (rank.id() > 0) {
        rank.world().recv(rank.id() - 1, buffer_of(std::span(&data, 1)));
      }
      if (rank.id() < 2) {
        rank.world().send(rank.id() + 1, buffer_of(std::span(&data, 1)));
      }
    };
    rank.world().launch({.operation = std::string_view("first")}, pass_on).wait();
    rank.world()
        .launch({.operation = std::string_view("second")},
                [&] {
                  if (rank.id() == 0) {  // the others are in it by then
                    std::this_thread::sleep_for(std::chrono::milliseconds(300));
                    throw PeerLost("on purpose");
                  }
                  pass_on();
                })
        .wait();
    return {};
  });
  const std::string text = result.describe();
  for (const std::string part :
       {"rank 0 threw PeerLost: on purpose\n", "\nlast operations\n",
        "in second () #1 of 0 f32 in group world; finished first () #0 of 0 f32 in group world",
        "in second () #1 of 0 f32 in group world, step 0; finished first", "pid"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\nis not in\n" << text;
  }
  EXPECT_EQ(result.last_seen.size(), 3U);
}

INSTANTIATE_TEST_SUITE_P(Shapes, OperationLogJob, testing::ValuesIn(one_node_shapes()), shape_name);

}  // namespace
}  // namespace ringside
