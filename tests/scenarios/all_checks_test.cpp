// Every check in a run of every dimension, from the seed and from a checkpoint: all rows pass, or
// say why there is nothing to check, and both runs have the same rows.
#include <gtest/gtest.h>

#include <map>

#include "scenarios/checks.hpp"
#include "scenarios/exit_codes.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

struct Dimension {
  const char* name;
  const char* words;
};

const std::string tiny =
    " --json --log none --set model.kind=gpt --set model.hidden=16 --set model.heads=4"
    " --set model.kv_heads=2 --set model.ffn=12 --set model.layers=2 --set model.vocab=257"
    " --set model.sequence=16 --set train.batch=9 --set train.steps=2 --set dp.bucket='4 KiB'"
    " --set checks.peer=dp/naive_gather ";

std::string all_checks() {
  std::string names;
  for (const std::string_view name : check_names()) {
    names += (names.empty() ? "\"" : ", \"") + std::string(name) + "\"";
  }
  return " --set 'checks.run=[" + names + "]' ";
}

// Rows of the checks by name: their verdicts.
std::map<std::string, std::string> verdicts(const nlohmann::json& document) {
  std::map<std::string, std::string> all;
  for (const auto& row : document["checks"]) {
    EXPECT_NE(row["verdict"], "fail") << row.dump();
    EXPECT_FALSE(row["verdict"] == "not_applicable" && row["measured"] == "" && row["note"] == "")
        << row.dump();
    const std::string name = row["name"];
    if (!name.starts_with("learning_rate") && !name.starts_with("other_rate") &&
        name != "control.rate_not_scaled") {  // its rule is of steps from the seed
      all[name] = row["verdict"];
    }
  }
  return all;
}

class AllChecks : public testing::TestWithParam<Dimension> {};

TEST_P(AllChecks, HoldAlikeFromTheSeedAndFromACheckpointThatTheRunThenAddsTo) {
  const TemporaryFolder folder;
  const std::string common = "run dp/ring" + tiny + GetParam().words + all_checks();
  const Ended fresh = run_program(common + "--save c", "", folder.path());
  ASSERT_EQ(fresh.exit_code, exit_ok) << fresh.err << fresh.out;
  const Ended resumed = run_program(common + "--resume c --save c", "", folder.path());
  ASSERT_EQ(resumed.exit_code, exit_ok) << resumed.err << resumed.out;
  EXPECT_EQ(resumed.document()["data"]["first_step"], 2);
  const auto rows = verdicts(fresh.document());
  EXPECT_EQ(verdicts(resumed.document()), rows);
  for (const auto& control : {"control.sum_not_mean", "control.weights_not_broadcast"}) {
    EXPECT_EQ(rows.at(control), "pass");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Dimensions, AllChecks,
    testing::Values(
        Dimension{"dp", "--ranks 4 --set model.kind=mlp --set parallel.microbatches=2"},
        Dimension{"batch_norm",
                  "--ranks 4 --set model.kind=mlp --set model.batch_norm=true --set "
                  "dp.sync_batch_norm=true"},
        Dimension{"zero1", "--ranks 4 --set parallel.zero=1 --set train.optimizer=adamw"},
        Dimension{"zero2", "--ranks 4 --set parallel.zero=2 --set parallel.microbatches=2"},
        Dimension{"zero3", "--ranks 4 --set parallel.zero=3"},
        Dimension{"tp", "--ranks 4 --set parallel.tp=2 --set parallel.sp=true"},
        Dimension{"cp", "--ranks 4 --set parallel.cp=2 --set cluster.flops='1 GFLOP/s'"},
        Dimension{"cp_ulysses", "--ranks 4 --set parallel.cp=2 --set parallel.cp_form=ulysses"},
        Dimension{"pp", "--ranks 4 --set parallel.pp=2 --set parallel.microbatches=3"},
        Dimension{
            "ep",
            "--ranks 4 --set model.experts=4 --set parallel.ep=2 --set parallel.microbatches=2"},
        Dimension{"mesh",
                  "--ranks 8 --set parallel.tp=2 --set parallel.pp=2 --set parallel.microbatches=2"
                  " --set parallel.zero=1"},
        Dimension{"recompute", "--ranks 4 --set parallel.recompute=full"}),
    [](const auto& dimension) { return dimension.param.name; });

}  // namespace
}  // namespace ringside
