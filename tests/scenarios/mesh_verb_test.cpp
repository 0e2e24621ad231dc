// `ringside mesh`: the grid, a rank's groups and bytes, refusals; and that what it plans is what
// the program runs.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "tests/support/program.hpp"

namespace ringside {
namespace {

using Json = nlohmann::json;

Json mesh(const std::string& flags) {
  const Ended ended = run_program("mesh --json " + flags);
  EXPECT_EQ(ended.exit_code, 0) << flags << ended.err;
  return ended.document();
}

Json group_of(const Json& document, const std::string& name) {
  for (const Json& group : document["rank"]["groups"]) {
    if (group["group"] == name) {
      return group;
    }
  }
  return {};
}

TEST(MeshVerb, TheGridHasEveryRankOncePerPlace) {
  const Json document = mesh("--tp 8 --pp 4 --dp 2");
  EXPECT_EQ(document["plan"]["nodes"], 8);
  ASSERT_EQ(document["grid"].size(), 64U);
  std::set<std::string> places;
  for (const Json& row : document["grid"]) {
    const int rank = row["rank"];
    EXPECT_EQ(row["node"], rank / 8);
    EXPECT_EQ(row["tp"].get<int>() + 8 * (row["pp"].get<int>() + 4 * row["dp"].get<int>()), rank);
    places.insert(row["tp"].dump() + "," + row["pp"].dump() + "," + row["dp"].dump());
  }
  EXPECT_EQ(places.size(), 64U);
}

TEST(MeshVerb, ARankHasAGroupAlongEachAxisAndItsLink) {
  const Json document = mesh("--tp 8 --pp 4 --dp 2 --microbatches 8 --rank 9");
  EXPECT_EQ(group_of(document, "tp")["members"], Json({8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(group_of(document, "tp")["link"], "nvlink");
  EXPECT_EQ(group_of(document, "pp")["members"], Json({1, 9, 17, 25}));
  EXPECT_EQ(group_of(document, "pp")["link"], "ib");
  EXPECT_EQ(group_of(document, "dp x cp")["members"], Json({9, 41}));
  EXPECT_EQ(group_of(document, "cp")["members"], Json({9}));
  EXPECT_EQ(group_of(document, "ep"), Json());
  EXPECT_EQ(document["rank"]["heaviest"]["group"], "tp");
  EXPECT_EQ(document["rank"]["stages"], Json({1}));
  EXPECT_EQ(document["bubble"]["bubble_over_ideal_exact"], "3/8");
  const Json narrow = mesh("--tp 8 --gpus-per-node 4");
  EXPECT_EQ(group_of(narrow, "tp")["link"], "ib");
}

TEST(MeshVerb, ExpertGroupsDivideDpTimesCp) {
  const Json document = mesh("--dp 128 --ep 64 --config deepseek-v3 --rank 70");
  const Json members = group_of(document, "ep")["members"];
  ASSERT_EQ(members.size(), 64U);
  EXPECT_EQ(members.front(), 64);
  EXPECT_EQ(group_of(document, "expert dp")["members"], Json({6, 70}));
  EXPECT_EQ(document["rank"]["places"]["ep"], 6);
}

// As published: 2,048 GPUs, experts of 64 ranks on 8 machines.
TEST(MeshVerb, WithDpInsidePpDeepSeekV3sExpertsAreOn8Machines) {
  const std::string plan =
      "--dp 128 --pp 16 --ep 64 --microbatches 16 --config deepseek-v3 --zero 1";
  EXPECT_EQ(group_of(mesh(plan), "ep")["nodes"], 64);
  const Json document = mesh(plan + " --order tp-cp-dp-pp --rank 200");
  EXPECT_EQ(document["plan"]["order"], "tp-cp-dp-pp");
  EXPECT_EQ(group_of(document, "ep")["nodes"], 8);
  EXPECT_EQ(group_of(document, "ep")["members"].front(), 192);
  EXPECT_EQ(group_of(document, "pp")["members"][1], 200);
  EXPECT_EQ(document["rank"]["stages"], Json({1}));
  EXPECT_EQ(document["grid"][200]["dp"], 72);
  EXPECT_EQ(document["grid"][200]["pp"], 1);
  EXPECT_EQ(document["grid"][200]["ep"], 8);
}

// A line of the grid is broken where another expert group begins, and not where none does.
TEST(MeshVerb, ALineOfTheGridIsAStretchOfTheInnerAxis) {
  const auto pipelines =
      run_program("mesh --dp 16 --pp 2 --ep 4 --microbatches 4 --config deepseek-v3");
  EXPECT_NE(pipelines.out.find("\n     0    0-1  0-1   0   0\n     0    2-3  0-1   1   1\n"),
            std::string::npos)
      << pipelines.out;
  const auto groups = run_program("mesh --dp 12 --ep 4 --config deepseek-v3");
  EXPECT_NE(groups.out.find("\n     0    0-3   0-3  0-3\n     0    4-7   4-7  0-3\n"),
            std::string::npos)
      << groups.out;
}

TEST(MeshVerb, TheTextNamesTheHeaviestGroupAndItsLink) {
  const Ended ended = run_program("mesh --tp 8 --pp 4 --dp 2 --microbatches 16");
  EXPECT_EQ(ended.exit_code, 0);
  for (const char* part : {"63", "heaviest: tp, ", "over nvlink", "stage 0: layers 0-15",
                           "bubble of 1f1b", "provenance"}) {
    EXPECT_EQ(ended.out.find(part) != std::string::npos, std::string(part) != "provenance") << part;
  }
}

TEST(MeshVerb, RefusesWithTheNumbersAndTheNearestChoices) {
  for (const auto& [flags, said] :
       {std::pair{"--ranks 8 --tp 4 --dp 3", "make dp 2, or take 12 ranks"},
        {"--tp 7", "the ranks may be 1, 2, 4, 8, or heads"},
        {"--pp 65", "at most 64 stages"},
        {"--dp 8 --ep 8", "the model has none"},
        {"--dp 8 --ep 3 --config deepseek-v3", "ep may be 1, 2, 4, 8"},
        {"--sp", "make tp 2 or more"},
        {"--pp 4 --schedule interleaved --microbatches 6", "take 4 or 8 micro-batches"},
        {"--cp 5 --cp-form ulysses",
         "the ranks may be 1, 2, 4, 8, 12, 24; the ring has no such limit"},
        {"--tp 2 --rank 2", "from 0 to 1"},
        {"--dp 2 --order tp-dp",
         "--order: an order names tp, cp, pp and dp once each, from inner "
         "to outer, but in \"tp-dp\" cp is missing: the nearest is "
         "tp-cp-pp-dp"},
        {"--config qwen3-8", "there is no such model; did you mean qwen3-8b? (take "},
        {"--tp 65536 --dp 2", "more than 65536 ranks"},
        {"--dp 65536 --sequence 16777216", "more than 4294967296 tokens"}}) {
    const Ended ended = run_program(std::string("mesh --json ") + flags);
    EXPECT_EQ(ended.exit_code, 2) << flags;
    EXPECT_NE(ended.err.find(said), std::string::npos) << flags << ": " << ended.err;
    EXPECT_EQ(ended.document()["verdict"], "refused") << flags;
  }
}

std::int64_t sent(const Json& document, const std::string& what) {
  for (const Json& row : document["rank"]["sent"]) {
    if (row["what"].get<std::string>().starts_with(what)) {
      return row["bytes"];
    }
  }
  return 0;
}

// Sums of the counted bytes of rank 0 whose label begins so.
std::int64_t counted(const Json& summary, const std::string& group, const std::string& label) {
  std::int64_t sum = 0;
  for (const Json& row : summary["traffic"][0]["sums"]) {
    if (row["group"].get<std::string>().starts_with(group) &&
        row["label"].get<std::string>().starts_with(label)) {
      sum += row["sent_bytes"].get<std::int64_t>();
    }
  }
  return sum;
}

// The formula against the bytes that a run at true scale counts.
TEST(MeshVerb, LargeTheBytesAreThoseOfARun) {
  const Json run = run_program("run tp/anchor --json --set 'checks.run=[\"traffic\"]'").document();
  const Json plan = mesh("--tp 8");
  EXPECT_EQ(sent(plan, "activations"), counted(run, "tp", "layers."));
  EXPECT_EQ(sent(plan, "embedding"), counted(run, "tp", "embed"));
  EXPECT_EQ(sent(plan, "head"), counted(run, "tp", "head"));
  EXPECT_NE(sent(mesh("--tp 4"), "activations"), counted(run, "tp", "layers."));
}

// M8: with tensor parallelism of 1 … 8 the planner and the runner refuse the same.
TEST(MeshVerb, CaseM8WhatIsRefusedHereIsRefusedByARun) {
  const TemporaryFolder folder;
  std::ofstream(folder / "small.json")
      << R"({"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 48,
             "intermediate_size": 24, "vocab_size": 256, "num_attention_heads": 12,
             "num_key_value_heads": 4, "tie_word_embeddings": false})";
  const std::string model =
      " --set model.kind=gpt --set model.layers=2 --set model.hidden=48 --set model.ffn=24"
      " --set model.heads=12 --set model.kv_heads=4 --set model.sequence=4 --set train.batch=4"
      " --set train.steps=1 --set 'checks.run=[]'";
  int refused = 0;
  for (int tp = 1; tp <= 8; ++tp) {
    const std::string ranks = std::to_string(tp);
    const int planned =
        run_program("mesh --config small.json --tp " + ranks, {}, folder.path()).exit_code;
    const int run =
        run_program("run dp/ring --ranks " + ranks + " --set parallel.tp=" + ranks + model, {},
                    folder.path())
            .exit_code;
    EXPECT_EQ(planned, run) << tp;
    refused += planned == 2 ? 1 : 0;
  }
  EXPECT_EQ(refused, 5) << "3, 5, 6, 7 and 8";
}

}  // namespace
}  // namespace ringside
