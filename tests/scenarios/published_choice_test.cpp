// A config.json, taken by `run` as by `mesh`.
#include "scenarios/published_choice.hpp"

#include "scenarios/model_settings.hpp"
#include "scenarios/overrides.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

const std::string configs = RINGSIDE_SOURCE_DIR "/tests/models/configs/";

// A small model of two tied blocks with biases.
const std::string tiny_config =
    R"({"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "vocab_size": 640,
"num_hidden_layers": 2, "num_attention_heads": 8, "attention_bias": true, "mlp_bias": true,
"tie_word_embeddings": true})";

class ConfigOfAUser : public testing::Test {
 protected:
  ConfigOfAUser() {
    std::filesystem::create_directory(folder / "Tiny");
    std::ofstream(folder / "Tiny/config.json") << tiny_config;
  }

  // From the user's folder, with a path from there.
  Ended run(const std::string& more) {
    return run_program("run " + more +
                           " --set model.config=Tiny/config.json --set model.sequence=64"
                           " --set cluster.capacity=none --log summary --json --out out",
                       {}, folder.path());
  }

  TemporaryFolder folder;
};

TEST_F(ConfigOfAUser, RunsWithEveryByteOfItsFormulas) {
  for (const auto* scenario : {"zero/zero3_fits", "tp/anchor", "dp/anchor_nvlink"}) {
    const Ended ended = run(scenario);
    EXPECT_EQ(ended.exit_code, 0) << scenario << ended.out << ended.err;
    EXPECT_TRUE(has(content(folder / "out/scenario.toml"),
                    "config = \"" + (folder / "Tiny/config.json").string() + "\""));
  }
}

// W + G of two tied blocks: 16 bytes of each parameter, over 8 ranks.
TEST_F(ConfigOfAUser, IsCountedToTheParameter) {
  const auto blocks = 2 * (4 * 64 * 64 + 4 * 64 + 3 * 64 * 96 + 2 * 96 + 64 + 2 * 64);
  const auto parameters = 640 * 64 + blocks + 64;
  const auto document = run("zero/zero3_fits").document();
  bool found = false;
  for (const auto& check : document["checks"]) {
    if (check["name"] == "model_state.of_a_rank") {
      EXPECT_EQ(check["measured"], 2 * parameters) << document.dump(1);
      found = true;
    }
  }
  EXPECT_TRUE(found);
  const Ended mesh = run_program("mesh --config Tiny/config.json --json", {}, folder.path());
  EXPECT_TRUE(has(mesh.out, "\"parameters\": " + std::to_string(parameters))) << mesh.out;
}

TEST_F(ConfigOfAUser, IsTakenFromTheFolderOfItsScenario) {
  std::string toml = content(RINGSIDE_SOURCE_DIR "/scenarios/tp/anchor.toml");
  const std::string named = "config = \"qwen3.8-27b\"";
  toml.replace(toml.find(named), named.size(), "config = \"Tiny/config.json\"");
  std::ofstream(folder / "mine.toml") << toml;
  Settings settings = load_scenario(find_scenario((folder / "mine.toml").string()));
  resolve(settings);
  EXPECT_EQ(counted_model_of(settings).config.name, "Tiny");
  // What was read stays, whatever becomes of the file.
  std::filesystem::remove(folder / "Tiny/config.json");
  EXPECT_EQ(counted_model_of(settings).config.hidden, 64U);
}

TEST(PublishedChoice, OfANameThatDoesNotExistSaysWhatDoes) {
  const std::string known =
      ": there is no such model; did you mean qwen3-8b? (take deepseek-v3, llama-3-405b, qwen3-8b, "
      "qwen3.8-27b, or the path of a config.json, which ends in .json)";
  EXPECT_EQ(refusal_of([] { chosen_config("--config qwen3-9b", "qwen3-9b"); }),
            "--config qwen3-9b" + known);
  Settings settings;
  settings.model.config = "qwen3-9b";
  EXPECT_TRUE(has(refusal_of([&] { resolve(settings); }), "model.config = qwen3-9b" + known));
}

TEST(PublishedChoice, OfAnUnknownKeyIsRefusedByRunAndMeshAlike) {
  const TemporaryFolder folder;
  std::string text = content(configs + "mistral-7b.json");
  text.insert(text.find('{') + 1, "\"attention_bias\": true,");
  std::ofstream(folder / "biased.json") << text;
  const std::string file = (folder / "biased.json").string();
  for (const auto& words : {"mesh --config " + file, "run tp/anchor --set model.config=" + file}) {
    const Ended ended = run_program(words);
    EXPECT_EQ(ended.exit_code, 2) << words;
    EXPECT_TRUE(has(ended.err, "attention_bias = true is not known for model_type mistral"))
        << ended.err;
  }
}

}  // namespace
}  // namespace ringside
