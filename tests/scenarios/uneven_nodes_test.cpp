// The formulas of traffic beside runs whose nodes hold different numbers of ranks, where "auto" and
// the algorithms it picks give every rank bytes of its own.
#include <gtest/gtest.h>

#include <map>

#include "scenarios/exit_codes.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

// Ranks 0 to 2 on one node, 3 and 4 on the other.
const std::string five_ranks =
    " --json --ranks 5 --set cluster.gpus_per_node=3 --set cluster.nodes=2"
    " --set 'checks.run=[\"traffic\"]'" +
    tiny_job;

// Bytes that each rank sends in gathers of parameters, by formula; the run must send the same.
std::map<int, std::int64_t> parameters_sent(const std::string& flags) {
  const Ended ended = run_program("run " + flags);
  EXPECT_EQ(ended.exit_code, exit_ok) << flags << ended.err;
  const auto document = ended.document();
  EXPECT_EQ(document["checks"][0]["name"], "traffic.figures_that_differ");
  EXPECT_EQ(document["checks"][0]["measured"], 0) << flags;
  std::map<int, std::int64_t> sent;
  for (const auto& rank : document["traffic"]) {
    for (const auto& row : rank["compared"]) {
      if (row["label"] == "parameters") {
        sent[rank["rank"]] = row["sent"]["formula"];
        EXPECT_EQ(row["received"]["formula"], row["received"]["counted"]) << flags;
      }
    }
  }
  return sent;
}

TEST(UnevenNodes, GathersOfParametersSendWhatTheFormulaOfTheChosenAlgorithmSays) {
  for (const std::string stage : {"1", "3"}) {
    const std::string zero = "zero/stage" + stage + five_ranks;
    const auto ring = parameters_sent(zero);
    for (const std::string algorithm : {"auto", "bruck", "hierarchical", "direct"}) {
      const auto sent = parameters_sent(zero + " --set collectives.all_gather=" + algorithm);
      const bool uneven = algorithm == "auto" || algorithm == "hierarchical";
      EXPECT_EQ(sent != ring, uneven) << algorithm << ": else the case shows nothing";
    }
  }
}

// One of the bytes that a report of issue 4 had wrong.
TEST(UnevenNodes, ThatOfAMeshOfTenRanksToo) {
  const auto sent = parameters_sent(
      "mesh/8 --json --ranks 10 --set parallel.pp=1 --set parallel.dp=5 --set parallel.zero=3"
      " --set cluster.gpus_per_node=8 --set collectives.all_gather=auto"
      " --set 'checks.run=[\"traffic\"]'");
  EXPECT_GT(sent.at(0), sent.at(9)) << "the first of a node tells the others";
}

TEST(UnevenNodes, SoDoTheSeamsOfSequenceParallelism) {
  for (const std::string algorithm : {"auto", "hierarchical"}) {
    const Ended ended = run_program(
        "run tp/sequence_parallel --json --ranks 4 --set cluster.gpus_per_node=3"
        " --set cluster.nodes=2 --set 'checks.run=[\"traffic\"]' --set train.steps=1"
        " --set collectives.all_gather=" +
        algorithm);
    EXPECT_EQ(ended.exit_code, exit_ok) << ended.err << ended.out;
  }
}

}  // namespace
}  // namespace ringside
