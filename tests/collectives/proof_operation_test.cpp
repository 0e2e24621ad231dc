// Proofs look at which reduction is done, not only at whose parts are in.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "collectives/proof.hpp"

namespace ringside {
namespace {

const OperationRow& ring_row() {
  for (const OperationRow& row : operation_rows()) {
    if (row.operation == "all_reduce" && row.algorithm == "ring") {
      return row;
    }
  }
  throw std::logic_error("no ring");
}

// "": all claims hold.
std::string fault_of(ReduceOp op, ReduceOp done, bool divided_again = false) {
  const RunCall run = [=](Comm& comm, const CollectiveCall& call, Buffer data, Buffer) {
    run_operation(comm, "all_reduce", "ring", data, {}, done == ReduceOp::none ? call.op : done, 0);
    if (divided_again) {
      comm.finish_average(data, ReduceOp::avg);
    }
  };
  const ProofJob job{.row = ring_row(), .run = run, .ranks = 3, .counts = {4}, .op = op};
  const Proof proof = prove(job).front();
  for (const Claim& claim : proof.claims) {
    if (!claim.holds) {
      return std::string(claim.name) + ": " + claim.fault;
    }
  }
  return "";
}

TEST(ProofOfTheOperation, HoldsForTheOneAskedFor) {
  for (const auto op :
       {ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max, ReduceOp::avg}) {
    EXPECT_EQ(fault_of(op, ReduceOp::none), "") << name_of(op);
  }
}

TEST(ProofOfTheOperation, AMaximumIsNoSum) {
  const auto fault = fault_of(ReduceOp::sum, ReduceOp::max);
  EXPECT_EQ(fault.find("definition: "), 0U) << fault;
  EXPECT_NE(fault.find("operation; in step 0 of rank"), std::string::npos) << fault;
  EXPECT_NE(fault.find("reduced with max, the call asks for sum"), std::string::npos) << fault;
  EXPECT_NE(fault_of(ReduceOp::prod, ReduceOp::sum), "");
}

// Right for sums, and still no all-reduce: the proof of the sum tries the others too.
TEST(ProofOfTheOperation, OneThatAlwaysSumsIsFound) {
  const auto fault = fault_of(ReduceOp::sum, ReduceOp::sum);
  EXPECT_EQ(fault.find("reductions: avg: "), 0U) << fault;
}

}  // namespace
}  // namespace ringside
