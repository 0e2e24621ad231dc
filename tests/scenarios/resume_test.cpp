// `ringside run` with --save and --resume, from end to end.
#include <gtest/gtest.h>

#include "models/safetensors.hpp"
#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

const std::string small =
    " --json --log none --set model.kind=gpt --set model.hidden=12 --set model.heads=2"
    " --set model.kv_heads=1 --set model.ffn=10 --set model.layers=1 --set model.sequence=16"
    " --set train.batch=8 --set train.optimizer=adamw --set train.lr=0.01"
    " --set dp.bucket='1 KiB' ";

nlohmann::json passed(const TemporaryFolder& folder, const std::string& words) {
  const auto ended = run_program("run " + words, "", folder.path());
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err << ended.out;
  return ended.document();
}

NamedTensors weights(const TemporaryFolder& folder, const std::string& name) {
  return load_safetensors(folder / (name + "/model.safetensors")).tensors;
}

// 4 steps, a checkpoint and 4 more are 8, in loss and in every weight.
TEST(Resume, GoesOnBitForBit) {
  const std::string cut = " --set parallel.tp=2 --set parallel.sp=true --set parallel.zero=";
  const std::vector<std::string> scenarios{"dp/ring", "zero/stage3", "dp/ring" + cut + "0",
                                           "dp/ring" + cut + "1", "dp/ring" + cut + "3"};
  for (const std::string& scenario : scenarios) {
    SCOPED_TRACE(scenario);
    const TemporaryFolder folder;
    const std::string common = scenario.substr(0, scenario.find(' ')) + small +
                               scenario.substr(std::min(scenario.find(' '), scenario.size())) +
                               " --ranks 4 --set 'checks.run=[\"gradients\"]' ";
    const auto whole = passed(folder, common + "--set train.steps=8 --save whole");
    const auto first = passed(folder, common + "--set train.steps=4 --save parts");
    const auto second = passed(folder, common + "--set train.steps=4 --resume parts --save parts");
    auto losses = first["losses"].get<std::vector<double>>();
    for (const auto& loss : second["losses"]) {
      losses.push_back(loss);
    }
    EXPECT_EQ(losses, whole["losses"].get<std::vector<double>>());
    EXPECT_EQ(weights(folder, "parts/step-8"), weights(folder, "whole/step-8"));
    EXPECT_NE(weights(folder, "parts/step-4"), weights(folder, "whole/step-8"));
    EXPECT_EQ(second["data"]["first_step"], 4);
    EXPECT_EQ(second["data"]["first_sample"], 32);
    EXPECT_EQ(second["data"]["samples"], 32);
    EXPECT_EQ(first["data"]["resumed"], "");
  }
}

TEST(Resume, WithOtherRanksEveryCheckHoldsAgainstOneProcessFromTheSamePlace) {
  const TemporaryFolder folder;
  passed(folder, "zero/stage3" + small + "--ranks 4 --save x --set train.save_every=2");
  EXPECT_TRUE(std::filesystem::exists(folder / "x/step-2"));
  for (const std::string other : {"dp/gradient_equivalence --ranks 2", "zero/stage1 --ranks 3"}) {
    const auto document = passed(folder, other + small + "--resume x/step-2");
    EXPECT_EQ(document["verdict"], "pass");
    EXPECT_EQ(document["data"]["first_sample"], 16);
  }
}

// A tensor-parallel checkpoint is whole, whatever mesh goes on from it.
TEST(Resume, GoesOnFromTensorParallelismIntoAnyMeshAndBack) {
  const TemporaryFolder folder;
  const std::string start = "dp/gradient_equivalence" + small + "--set model.vocab=257 ";
  passed(folder, "tp/zero3" + small + "--set parallel.tp=2 --ranks 4 --save x");
  for (const std::string mesh :
       {"--ranks 2", "--ranks 2 --set parallel.tp=2", "--ranks 4 --set parallel.tp=2",
        "--ranks 2 --set parallel.zero=3", "--ranks 4 --set parallel.tp=2 --set parallel.zero=2"}) {
    SCOPED_TRACE(mesh);
    const auto document = passed(folder, start + "--resume x/step-3 --save y" +
                                             " --set 'checks.run=[\"gradients\"]' " + mesh);
    EXPECT_EQ(document["data"]["first_sample"], 24);
    passed(folder, "tp/zero3" + small + "--set parallel.tp=2 --ranks 4 --resume y/step-6" +
                       " --set 'checks.run=[\"gradients\"]'");
  }
}

// Stages and experts are parts by name: what one mesh saves, any other goes on from.
TEST(Resume, GoesOnFromStagesAndExpertsIntoAnyMeshAndBack) {
  const std::string model = small +
                            "--set model.layers=2 --set model.tied=true --set model.experts=4 "
                            "--set model.bias_rate=0.01 --set 'checks.run=[\"gradients\"]' ";
  const std::string piped = "ep/dispatch" + model +
                            "--ranks 8 --set parallel.pp=2 --set parallel.tp=2 --set parallel.ep=2 "
                            "--set parallel.microbatches=4 --set parallel.zero=1 ";
  const TemporaryFolder folder;
  const auto whole = passed(folder, piped + "--set train.steps=4 --save whole");
  const auto first = passed(folder, piped + "--set train.steps=2 --save parts");
  const auto second = passed(folder, piped + "--set train.steps=2 --resume parts --save parts");
  auto losses = first["losses"].get<std::vector<double>>();
  for (const auto& loss : second["losses"]) {
    losses.push_back(loss);
  }
  EXPECT_EQ(losses, whole["losses"].get<std::vector<double>>());
  EXPECT_EQ(weights(folder, "parts/step-4"), weights(folder, "whole/step-4"));
  EXPECT_NE(weights(folder, "parts/step-2"), weights(folder, "whole/step-4"));
  EXPECT_EQ(weights(folder, "whole/step-4").count("layers.0.mlp.router.bias"), 1U);
  for (const std::string mesh :
       {"--ranks 4 --set parallel.ep=4 --set parallel.zero=3",
        "--ranks 4 --set parallel.ep=2 --set parallel.pp=2 --set parallel.microbatches=4 "
        "--set parallel.schedule=dualpipe",
        "--ranks 8 --set parallel.pp=2 --set parallel.tp=2 --set parallel.ep=2 "
        "--set parallel.microbatches=4 --set parallel.zero=1 --set parallel.order=dp-pp-cp-tp"}) {
    SCOPED_TRACE(mesh);
    passed(folder, "ep/dispatch" + model + mesh + " --resume parts/step-2 --save y");
    passed(folder, piped + "--resume y");
  }
}

TEST(Resume, AnotherTrainingIsRefusedBeforeAnythingRuns) {
  const TemporaryFolder folder;
  const std::string common = "dp/ring" + small + "--ranks 2 ";
  passed(folder, common + "--save x");
  const auto refused = [&](const std::string& words, const std::string& why) {
    const auto ended = run_program("run " + words, "", folder.path());
    EXPECT_EQ(ended.exit_code, exit_bad_use);
    EXPECT_NE(ended.err.find(why), std::string::npos) << ended.err;
  };
  refused(common + "--resume x --seed 2", "train.seed = 1, but here it is 2");
  refused(common + "--resume x --set train.batch=9", "train.batch = 8, but here it is 9");
  refused(common + "--resume x --set model.ffn=11", "model.ffn = 10, but here it is 11");
  refused(common + "--resume absent", "there is no checkpoint");
  refused(common + "--save x/step-3/model.safetensors", "must be a folder");
  refused(common + "--set train.save_every=2", "needs a folder");
  refused("zero/zero3_fits --save y", "without data");
}

}  // namespace
}  // namespace ringside
