// Proofs: every row of every table is proved, and planted faults are caught and explained at the
// right place.
#include "collectives/proof.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/planted_all_reduces.hpp"

namespace ringside {
namespace {

std::string fault_of(const Proof& proof) {
  for (const Claim& claim : proof.claims) {
    if (!claim.holds) {
      return std::string(claim.name) + ": " + claim.fault;
    }
  }
  return "";
}

TEST(Proof, OfEveryRowOverOneToNineRanks) {
  for (const OperationRow& row : operation_rows()) {
    for (int p = 1; p <= 9; ++p) {
      for (const Proof& proof :
           prove({.row = row, .ranks = p, .counts = counts_to_prove(row, p)})) {
        EXPECT_EQ(fault_of(proof), "") << row.operation << " " << row.algorithm << " " << p << " "
                                       << proof.call.count << " root " << proof.call.root;
      }
    }
  }
}

TEST(Proof, OfHierarchicalRowsOnNodesOfTwoAndOfThree) {
  for (const OperationRow& row : operation_rows()) {
    for (int p = 3; p <= 9 && row.algorithm == "hierarchical"; ++p) {
      for (const int node : {2, 3}) {
        const ProofJob job{
            .row = row, .ranks = p, .gpus_per_node = node, .counts = counts_to_prove(row, p)};
        for (const Proof& proof : prove(job)) {
          EXPECT_EQ(fault_of(proof), "") << row.operation << " " << p << " on nodes of " << node;
        }
      }
    }
  }
}

// Every reduction, and the types whose sums are rounded in their own way.
TEST(Proof, OfEveryReductionAndOfHalfTypes) {
  for (const OperationRow& row : operation_rows()) {
    for (const auto op : {ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg}) {
      for (const auto type : {DType::f32, DType::bf16}) {
        if (!row.reduces) {
          continue;
        }
        const ProofJob job{.row = row, .ranks = 5, .counts = {7, 100}, .op = op, .numbers = type};
        for (const Proof& proof : prove(job)) {
          EXPECT_EQ(fault_of(proof), "") << row.operation << " " << row.algorithm << " "
                                         << name_of(op) << " " << name_of(type);
        }
      }
    }
  }
}

Proof prove_planted(const AllReduce& algorithm, std::size_t count) {
  const RunCall run = [&](Comm& comm, const CollectiveCall& call, Buffer data, Buffer) {
    all_reduce(comm, algorithm, data, call.op);
  };
  const ProofJob job{.row = {.operation = "all_reduce",
                             .algorithm = algorithm.name,
                             .steps = algorithm.steps,
                             .sent = algorithm.sent,
                             .paper = algorithm.paper,
                             .reduces = true,
                             .rooted = false,
                             .equal_parts = false},
                     .run = run,
                     .ranks = 4,
                     .counts = {count},
                     .limit = std::chrono::seconds(1)};
  return prove(job).front();
}

// What a proof over 4 ranks must say of each planted fault: of the first wrong element, the kind,
// the rank and step where it went wrong, and whose parts are concerned. `texts`: for faults that
// end the run, or that show in the order of additions only; several where any of several ranks may
// be the first to notice.
struct Expected {
  std::string_view name;
  FaultKind kind = FaultKind::missing;
  int at_rank = 0;
  int step = 0;
  std::vector<int> ranks = {};
  std::vector<std::string_view> texts = {};
};

const std::vector<Expected>& expectations() {
  using enum FaultKind;
  static const std::vector<Expected> all{
      {"reduce_chunk_off_by_one", missing, 1, 3, {1, 2, 3}},
      {"gather_chunk_off_by_one", missing, 0, 3, {0}},
      {"reduce_first_step_skipped", missing, 1, 2, {1}},
      {"reduce_last_step_skipped", missing, 1, 2, {1, 2, 3}},
      {"gather_step_skipped", stale, 0, 4, {0, 1}},
      {"gather_last_step_skipped", stale, 0, 1, {1}},
      {.name = "gather_wrong_direction",
       .texts = {"expects 251 elements of symbol from rank 2",
                 "expects 250 elements of symbol from rank 0"}},
      {"added_twice", twice, 2, 1, {0, 1}},
      {"gather_adds", twice, 2, 3, {2}},
      {"reduce_copies", missing, 2, 0, {0, 2, 3}},
      {"one_rank_copies", missing, 2, 0, {2}},
      {"stale_chunk", stale, 2, 3, {0, 2, 3}},
      {"chunk_dropped", stale, 0, 4, {0, 1, 2}},
      {"tail_lost", missing, 0, 5, {1, 2, 3}},
      {"buffer_reused_early", foreign, 0, 2, {3}},
      {.name = "blocking_sends", .texts = {"no receive was posted"}},
      {"divides_a_sum", mislaid, 0, 5, {}},
      {"last_rank_left_out", missing, 1, 1, {3}},
      {"told_too_early", stale, 1, 1, {3}},
      {"distance_not_doubled", twice, 0, 1, {0, 1}},
      {.name = "own_part_first",
       .texts = {"rank 0 holds (((r0 + r1) + r2) + r3), rank 1 holds (((r1 + r2) + r3) + r0)"}},
      {"neighbour_twice", twice, 0, 0, {1}},
      {.name = "next_chunk_lent",
       .texts = {"cannot copy 250 elements of symbol to 251",
                 "cannot copy 251 elements of symbol to 250"}},
  };
  return all;
}

TEST(PlantedFaults, AreAllCaughtAndExplainedAtTheRightPlace) {
  ASSERT_EQ(planted_all_reduces().size(), expectations().size());
  for (std::size_t i = 0; i < expectations().size(); ++i) {
    const AllReduce& planted = planted_all_reduces()[i];
    const Expected& expected = expectations()[i];
    ASSERT_EQ(planted.name, expected.name);
    const Proof proof = prove_planted(planted, 1001);
    const std::string fault = fault_of(proof);
    ASSERT_FALSE(fault.empty()) << planted.name << " was proved";
    if (!expected.texts.empty()) {
      EXPECT_TRUE(std::ranges::any_of(
          expected.texts,
          [&](std::string_view text) { return fault.find(text) != std::string::npos; }))
          << planted.name << ": " << fault;
      continue;
    }
    ASSERT_TRUE(proof.diagnosis) << planted.name << ": " << fault;
    const Diagnosis& d = *proof.diagnosis;
    EXPECT_EQ(name_of(d.kind), name_of(expected.kind)) << planted.name << ": " << fault;
    EXPECT_EQ(d.at_rank, expected.at_rank) << planted.name << ": " << fault;
    EXPECT_EQ(d.step, expected.step) << planted.name << ": " << fault;
    EXPECT_EQ(d.ranks, expected.ranks) << planted.name << ": " << fault;
  }
}

}  // namespace
}  // namespace ringside
