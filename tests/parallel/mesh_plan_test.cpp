// What can be planned: every constraint, with its numbers and its nearest choices.
#include "parallel/mesh_plan.hpp"

#include <gtest/gtest.h>

#include "runtime/errors.hpp"

namespace ringside {
namespace {

GptConfig gpt() {
  return {.layers = 6, .hidden = 56, .heads = 28, .kv_heads = 4, .head_dim = 8, .ffn = 112};
}

// "" for a plan that can be run.
std::string refusal(const MeshPlan& plan, const GptConfig& model = gpt(), std::size_t experts = 0) {
  try {
    require_usable(plan, model, plan.mesh.ranks(), experts);
  } catch (const BadUse& error) {
    return error.what();
  }
  return "";
}

TEST(MeshPlan, AProductOfAllDimensionsIsUsable) {
  EXPECT_EQ(refusal({.mesh = {.tp = 2, .cp = 2, .pp = 2, .dp = 2},
                     .ep = 4,
                     .sequence_parallel = true,
                     .zero = 3,
                     .microbatches = 4,
                     .batch = 8},
                    gpt(), 8),
            "");
}

TEST(MeshPlan, RefusesDegreesThatAreNotTheRanks) {
  const MeshPlan plan{.mesh = {.tp = 4, .dp = 3}};
  EXPECT_NO_THROW(require_usable(plan, gpt(), 12));
  try {
    require_usable(plan, gpt(), 8);
    FAIL();
  } catch (const BadUse& error) {
    EXPECT_STREQ(error.what(),
                 "a mesh of tp = 4, dp = 3 has 12 places, but there are 8 ranks: make dp 2, or "
                 "take 12 ranks");
  }
}

TEST(MeshPlan, RefusesTensorParallelismThatCannotCut) {
  EXPECT_EQ(refusal({.mesh = {.tp = 4}}), "");
  EXPECT_EQ(refusal({.mesh = {.tp = 8}}),
            "heads = 28 cannot be divided over 8 tensor-parallel ranks: the ranks may be 1, 2, 4, "
            "28, or heads 24 or 32");
  EXPECT_EQ(refusal({.mesh = {.tp = 14}}),
            "kv_heads = 4 can neither be divided over 14 tensor-parallel ranks nor copied evenly: "
            "the ranks may be 1, 2, 4, 28, or kv_heads 14");
}

// M8: 28 heads with SP = 8 and SP = 7 (Ulysses).
TEST(MeshPlan, CaseM8UlyssesTakesWhatDividesTheHeads) {
  GptConfig model = gpt();
  model.kv_heads = 28;
  const auto ulysses = [](int tp, int cp) {
    return MeshPlan{.mesh = {.tp = tp, .cp = cp}, .cp_form = "ulysses"};
  };
  EXPECT_EQ(refusal(ulysses(1, 7), model), "");
  EXPECT_EQ(refusal(ulysses(1, 8), model),
            "heads = 28 cannot be divided over 8 Ulysses ranks: with heads = 28 and kv_heads = 28 "
            "the ranks may be 1, 2, 4, 7, 14, 28; the ring has no such limit");
  EXPECT_EQ(refusal({.mesh = {.cp = 8}}, model), "") << "the ring";
  EXPECT_EQ(refusal(ulysses(2, 7), model), "") << "14 heads on a rank";
  EXPECT_NE(refusal(ulysses(2, 4), model), "");
}

// M8: what is named as a choice is one, and nothing else is.
TEST(MeshPlan, CaseM8UlyssesChoicesAreThoseThatAreNotRefused) {
  for (const std::size_t kv_heads : {1UL, 4UL, 7UL, 28UL}) {
    GptConfig model = gpt();
    model.kv_heads = kv_heads;
    std::string usable;
    for (int cp = 1; cp <= 28; ++cp) {
      if (refusal({.mesh = {.cp = cp}, .cp_form = "ulysses"}, model).empty()) {
        usable += (usable.empty() ? "" : ", ") + std::to_string(cp);
      }
    }
    const auto text = refusal({.mesh = {.cp = 27}, .cp_form = "ulysses"}, model);
    EXPECT_NE(text.find("the ranks may be " + usable + ";"), std::string::npos) << text;
  }
}

// M8: 6 layers on PP = 4 and 61 on PP = 16 with v = 2 are dealt out, 7 stages of 6 are not.
TEST(MeshPlan, CaseM8LayersThatStagesDoNotDivideAreDealtOut) {
  const auto piped = [](int pp, int microbatches, int chunks = 1) {
    return MeshPlan{.mesh = {.pp = pp},
                    .schedule = chunks > 1 ? "interleaved" : "1f1b",
                    .chunks = chunks,
                    .microbatches = microbatches,
                    .batch = static_cast<std::size_t>(microbatches)};
  };
  EXPECT_EQ(refusal(piped(4, 4)), "");
  EXPECT_EQ(refusal(piped(7, 8)),
            "6 blocks cannot be dealt out to 7 stages, for a stage without a block has nothing to "
            "compute: at most 6 stages, or at least 7 blocks");
  GptConfig deep = gpt();
  deep.layers = 61;
  EXPECT_EQ(refusal(piped(16, 32, 2), deep), "");
  EXPECT_EQ(refusal(piped(16, 30, 2), deep),
            "interleaved takes micro-batches in groups of as many as there are devices, and 30 is "
            "no multiple of 16: take 16 or 32 micro-batches");
  EXPECT_NE(refusal(piped(16, 64, 4), deep), "") << "64 stages of 61 layers";
}

TEST(MeshPlan, DualPipeVHasTwoStagesOnADevice) {
  MeshPlan plan{.mesh = {.pp = 3}, .schedule = "dualpipev", .microbatches = 6, .batch = 6};
  EXPECT_EQ(schedule_of(plan).stages, 6);
  EXPECT_EQ(schedule_of(plan).devices.size(), 3U);
  EXPECT_EQ(refusal(plan), "");
  plan.mesh.pp = 4;
  plan.microbatches = 8;
  EXPECT_NE(refusal(plan), "") << "8 stages of 6 layers";
}

// M8: a batch of 30 on DP = 4 is cut 8, 8, 7, 7.
TEST(MeshPlan, CaseM8ABatchThatRanksDoNotDivideIsPlanned) {
  EXPECT_EQ(refusal({.mesh = {.dp = 4}, .microbatches = 2, .batch = 30}), "");
  EXPECT_EQ(refusal({.mesh = {.dp = 4}, .microbatches = 31, .batch = 30}),
            "a batch of 30 samples cannot fill 31 micro-batches: at most 30 micro-batches, or a "
            "batch of 31");
}

TEST(MeshPlan, RefusesExpertsThatCannotBeSpread) {
  const MeshPlan plan{.mesh = {.cp = 2, .dp = 6}, .ep = 4, .batch = 6};
  EXPECT_EQ(refusal(plan, gpt(), 8), "");
  EXPECT_EQ(refusal(plan),
            "ep = 4 spreads experts, but the model has none: make ep 1, or take a model with "
            "experts");
  EXPECT_EQ(refusal(plan, gpt(), 6),
            "experts = 6 cannot be divided over ep = 4 ranks: of dp x cp = 12 ranks ep may be 1, "
            "2, 3, 6");
  EXPECT_EQ(refusal({.mesh = {.tp = 4, .dp = 2}, .ep = 8}, gpt(), 8),
            "ep = 8 does not divide dp x cp = 2 x 1 = 2: ep may be 1, 2");
}

TEST(MeshPlan, RefusesWhatHasNothingToWorkOn) {
  EXPECT_EQ(refusal({.sequence_parallel = true}),
            "sequence parallelism divides the tokens of tensor-parallel ranks, but tp = 1: make "
            "tp 2 or more, or leave it off");
  EXPECT_EQ(refusal({.zero = 4}), "zero = 4: stages are 1, 2 and 3, and 0 is none");
  EXPECT_EQ(refusal({.schedule = "interleaved", .chunks = 2}),
            "chunks = 2 cut the stage of a pipeline, but pp = 1: make pp 2 or more, or chunks 1");
  EXPECT_EQ(refusal({.mesh = {.cp = 2}, .cp_form = "star"}),
            "no form of context parallelism is called \"star\": choose ring or ulysses");
}

TEST(MeshPlan, APublishedModelIsHeldToItsLinearHeadsToo) {
  const PublishedModel model = published_model("qwen3.8-27b");  // 16 key heads of Gated DeltaNet
  EXPECT_NO_THROW(require_usable({.mesh = {.tp = 8}}, model, 8));
  try {
    require_usable({.mesh = {.tp = 12}}, model, 12);
    FAIL();
  } catch (const BadUse& error) {
    EXPECT_NE(std::string(error.what()).find("12 tensor-parallel ranks"), std::string::npos);
  }
}

}  // namespace
}  // namespace ringside
