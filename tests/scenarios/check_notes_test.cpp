// What rows of a verdict table say beside their figures, and what scenarios must show to say it.
#include <gtest/gtest.h>

#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

std::string note_of(const nlohmann::json& document, const std::string& name) {
  for (const auto& row : document["checks"]) {
    if (row["name"] == name) {
      return row.value("note", "");
    }
  }
  return "no row " + name;
}

// Bytes that ranks send under tensor parallelism between machines.
std::int64_t tensor_bytes_over_ib(const nlohmann::json& document) {
  std::int64_t bytes = 0;
  for (const auto& rank : document["traffic"]) {
    for (const auto& sum : rank["sums"]) {
      bytes += sum["group"] == "tp" && sum["link"] == "ib" ? sum["sent_bytes"].get<int>() : 0;
    }
  }
  return bytes;
}

TEST(CheckNotes, TensorParallelismAcrossNodesRunsAcrossThem) {
  const std::string run = "run tp/across_nodes --json --set 'checks.run=[\"across_nodes\"]'";
  const auto across = run_program(run).document();
  EXPECT_GT(tensor_bytes_over_ib(across), 0);
  EXPECT_TRUE(has(note_of(across, "across_nodes.time"), "on 4 machines, as this run is"));
  const auto inside =
      run_program(run + " --set cluster.nodes=1 --set cluster.gpus_per_node=4").document();
  EXPECT_EQ(tensor_bytes_over_ib(inside), 0);
  EXPECT_FALSE(has(note_of(inside, "across_nodes.time"), "as this run is"));
  EXPECT_EQ(inside["verdict"], "pass") << "it is set beside four machines all the same";
}

TEST(CheckNotes, PaddingOfAModelThatDoesNotFitIsNamedAndNothingIsTimed) {
  const std::string run = "run zero/dp_does_not_fit --json";
  const auto eight = run_program(run).document();
  EXPECT_FALSE(has(note_of(eight, "model_state.by_formula"), "pad"));
  const auto many = run_program(run + " --ranks 64 --set cluster.gpus_per_node=8").document();
  EXPECT_TRUE(has(note_of(many, "model_state.by_formula"),
                  "3104 bytes of it pad the gradients' buckets to multiples of 64 ranks"))
      << note_of(many, "model_state.by_formula");
  EXPECT_TRUE(many["time"].is_null());
}

// At one token the gradients of queries and keys are exactly 0 in one process.
TEST(CheckNotes, UnitsInTheLastPlaceOfNothingAreNotCounted) {
  const std::string run = "run cp/zigzag --json --set 'checks.run=[\"gradients\"]'";
  const auto one = run_program(run + " --set model.sequence=1").document();
  EXPECT_TRUE(has(note_of(one, "f32.gradient"), "no ULPs: the reference is 0"));
  const auto sixteen = run_program(run).document();
  EXPECT_TRUE(has(note_of(sixteen, "f32.gradient"), " ULPs at most"));
}

TEST(CheckNotes, ACutMlpHasItsStateAndItsReceivedBytesBesideTheFormula) {
  for (const std::string scenario : {"tp/column_row", "tp/row_first"}) {
    const auto document = run_program("run " + scenario + " --json").document();
    EXPECT_TRUE(has(note_of(document, "model_state.of_a_rank"), "the whole MLP is 512"));
    for (const auto& rank : document["traffic"]) {
      const auto& received = rank["compared"][0]["received"];
      EXPECT_EQ(received["counted"], received["formula"]) << scenario;
    }
  }
}

TEST(CheckNotes, OneOfAThingIsNotMany) {
  const auto one =
      run_program("run dp/ring --ranks 1" + tiny_job + " --set train.steps=1 --set train.batch=1");
  EXPECT_TRUE(has(one.out, "1 rank on 1 node")) << one.out;
  EXPECT_TRUE(has(one.out, "1 step of 1 sample,")) << one.out;
}

}  // namespace
}  // namespace ringside
