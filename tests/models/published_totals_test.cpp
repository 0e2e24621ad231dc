// Configs as people have them, against the totals of their checkpoints (configs/totals.tsv).
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "models/published_config_keys.hpp"
#include "models/published_model.hpp"
#include "runtime/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

const std::filesystem::path configs = RINGSIDE_SOURCE_DIR "/tests/models/configs";

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

PublishedModel model_of(const std::string& name) {
  return published_model(read_published_config(configs / (name + ".json")));
}

std::size_t trained(const PublishedModel& model) {
  std::size_t sum = 0;
  for (const auto& layer : model.layers) {
    sum += layer.parameters();
  }
  return sum;
}

// Buffers are stored beside the parameters of some checkpoints, and are none.
TEST(PublishedTotals, EqualThoseOfTheCheckpoints) {
  std::istringstream lines(text_of(configs / "totals.tsv"));
  std::string line;
  std::getline(lines, line);
  int rows = 0;
  while (std::getline(lines, line)) {
    std::istringstream row(line);
    std::string name;
    std::size_t stored = 0, buffers = 0, copies = 0, biases = 0;
    row >> name >> stored >> buffers >> copies >> biases;
    const PublishedModel model = model_of(name);
    EXPECT_EQ(model.count(), stored - buffers) << name;
    EXPECT_EQ(trained(model), stored - buffers - copies - biases) << name;
    ++rows;
  }
  EXPECT_EQ(rows, 16);
}

TEST(PublishedTotals, MoonlightHasABiasForEachRoutedExpertBeside) {
  const auto model = model_of("moonlight-16b-a3b");
  EXPECT_EQ(model.count(), 15'960'110'208U);
  EXPECT_EQ(model.count("router_bias"), 1'664U);
  EXPECT_EQ(trained(model), 15'960'108'544U);
}

// A tied head is counted once and multiplies all the same.
TEST(PublishedTotals, ATiedHeadIsMultipliedWith) {
  const auto model = model_of("qwen3-0.6b");
  const PublishedTensor& head = model.layers.back().tensors.at(0);
  EXPECT_EQ(model.layers.back().parameters(), 0U);
  EXPECT_EQ(head.products, 151'936U * 1'024);
  EXPECT_EQ(model.count("embed"), 151'936U * 1'024);
}

class ConfigKeys : public testing::Test {
 protected:
  // A config with `replacement` in the place of a key's whole line, or of nothing at the front.
  PublishedModel with(const std::string& name, const std::string& key,
                      const std::string& replacement) {
    std::istringstream lines(text_of(configs / (name + ".json")));
    std::string line, text;
    bool found = false;
    while (std::getline(lines, line)) {
      const bool here = line.find("  \"" + key + "\":") == 0;
      found = found || here;
      text += here ? replacement : line;
      text += '\n';
    }
    if (!found) {
      text.insert(text.find('{') + 1, "\n" + replacement);
    }
    std::ofstream(file) << text;
    return published_model(read_published_config(file));
  }

  std::string refusal(const std::string& name, const std::string& key,
                      const std::string& replacement) {
    try {
      with(name, key, replacement);
    } catch (const BadUse& error) {
      const std::string text = error.what();
      return text.starts_with(file.string() + ": ") ? text.substr(file.string().size() + 2) : text;
    }
    return "nothing was refused";
  }

  TemporaryFolder folder;
  std::filesystem::path file = folder / "mine.json";
};

TEST_F(ConfigKeys, LeftOutOrNullHaveTheDefaultsOfTheirFamily) {
  const std::size_t keys = 4096 * 128;  // of a layer of mistral, of one head
  const std::size_t mistral = 7'241'732'096;
  EXPECT_EQ(with("mistral-7b", "num_key_value_heads", "").count(), mistral);
  EXPECT_EQ(with("mistral-7b", "num_key_value_heads", "\"num_key_value_heads\": null,").count(),
            mistral + 32 * 2 * 24 * keys);
  EXPECT_EQ(with("mistral-7b", "head_dim", "").count(), mistral);
  EXPECT_EQ(with("qwen3-4b", "head_dim", "").count(), 4'022'468'096U) << "128";
  EXPECT_EQ(with("llama-3.1-8b", "num_key_value_heads", "").config.kv_heads, 32U);
  EXPECT_EQ(with("llama-3.1-8b", "tie_word_embeddings", "").count(), 8'030'261'248U);
  const std::size_t moonlight = 15'960'110'208;
  EXPECT_EQ(with("moonlight-16b-a3b", "num_nextn_predict_layers", "").count(), moonlight);
  EXPECT_EQ(with("moonlight-16b-a3b", "moe_layer_freq", "").count(), moonlight);
}

TEST_F(ConfigKeys, ThatChangeTensorsAreCounted) {
  const std::size_t moonlight = 15'960'110'208;
  const std::size_t expert = std::size_t{3} * 2048 * 1408;
  const std::size_t mixture = 66 * expert + 64 * 2048 + 64;
  const std::size_t dense = std::size_t{3} * 2048 * 11264;
  EXPECT_EQ(
      with("moonlight-16b-a3b", "first_k_dense_replace", "\"first_k_dense_replace\": 0,").count(),
      moonlight + mixture - dense);
  EXPECT_EQ(with("moonlight-16b-a3b", "n_shared_experts", "\"n_shared_experts\": 0,").count(),
            moonlight - 26 * 2 * expert);
  EXPECT_EQ(with("moonlight-16b-a3b", "moe_layer_freq", "\"moe_layer_freq\": 2,").count(),
            moonlight - 13 * (mixture - dense))
      << "layers 2, 4, … 26";
  EXPECT_EQ(with("moonlight-16b-a3b", "n_routed_experts", "\"n_routed_experts\": null,").count(),
            moonlight - 26 * (mixture - dense));
  EXPECT_EQ(with("moonlight-16b-a3b", "attention_bias", "\"attention_bias\": true,").count(),
            moonlight + 27 * (576 + 2048));
  EXPECT_EQ(with("deepseek-r1", "num_nextn_predict_layers", "").count(), 671'026'419'200U);
  EXPECT_EQ(with("deepseek-r1", "attention_bias", "\"attention_bias\": true,").count(),
            684'489'845'504U + 62 * (1536 + 576 + 7168));
  EXPECT_EQ(with("qwen3-4b", "attention_bias", "\"attention_bias\": true,").count(),
            4'022'468'096U + 36 * (4096 + 1024 + 1024 + 2560));
  EXPECT_EQ(with("qwen3-30b-a3b", "mlp_only_layers", "\"mlp_only_layers\": [0],").count(),
            30'532'122'624U + 3 * 2048 * 6144 - 128 * (3 * 2048 * 768 + 2048));
  EXPECT_EQ(with("qwen3-30b-a3b", "num_experts", "\"num_local_experts\": 128,").count(),
            30'532'122'624U);
  EXPECT_EQ(with("qwen3-30b-a3b", "decoder_sparse_step", "\"decoder_sparse_step\": 2,").count(),
            30'532'122'624U + 24 * (3 * 2048 * 6144 - 128UL * (3 * 2048 * 768 + 2048)));
  EXPECT_EQ(with("granite-3b-code", "attention_bias", "").count() + 32 * 4 * 2560, 3'482'503'680U);
  EXPECT_EQ(with("granite-3b-code", "mlp_bias", "").count() + 32 * (2 * 10240 + 2560),
            3'482'503'680U);
}

TEST_F(ConfigKeys, ThatMayChangeTensorsAndAreNotKnownAreRefusedByName) {
  EXPECT_EQ(refusal("mistral-7b", "attention_bias", "\"attention_bias\": true,"),
            "attention_bias = true is not known for model_type mistral, and may change tensors, "
            "which would then not be counted: take the key out of the file if it changes none");
  EXPECT_TRUE(
      refusal("qwen3-4b", "mlp_bias", "\"mlp_bias\": true,").starts_with("mlp_bias = true"));
  EXPECT_TRUE(refusal("llama-3.1-8b", "extra_blocks", "\"extra_blocks\": [1, 2],")
                  .starts_with("extra_blocks = [1,2] is not known"));
  EXPECT_EQ(refusal("llama-3.1-8b", "architectures",
                    "\"architectures\": [\"LlamaForSequenceClassification\"],"),
            "architectures names LlamaForSequenceClassification: only the head of a language model "
            "is counted, of …ForCausalLM and …ForConditionalGeneration");
  EXPECT_EQ(refusal("moonlight-16b-a3b", "topk_method", "\"topk_method\": \"greedy\","),
            "topk_method \"greedy\" is not known here: it is noaux_tc");
  EXPECT_EQ(refusal("moonlight-16b-a3b", "moe_layer_freq", "\"moe_layer_freq\": 0,"),
            "moe_layer_freq must be a whole number from 1 to 16777216, and is 0");
  EXPECT_EQ(refusal("moonlight-16b-a3b", "kv_lora_rank", "\"kv_lora_rank\": null,"),
            "kv_lora_rank is null");
}

TEST_F(ConfigKeys, ThatAreNotKnownAndSwitchedOffAreAccepted) {
  for (const char* off : {"null", "false", "0", "\"\"", "[]", "{}"}) {
    EXPECT_EQ(with("llama-3.1-8b", "extra", "\"extra\": " + std::string(off) + ",").count(),
              8'030'261'248U);
  }
}

// One table, and the page that shows it.
TEST(ConfigKeyTable, StandsInTheDocument) {
  const std::string page = text_of(RINGSIDE_SOURCE_DIR "/docs/models.md");
  const auto from = page.find("<!-- keys that change no tensor -->");
  const auto to = page.find("<!-- end of keys -->");
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  std::set<std::string, std::less<>> shown;
  std::istringstream words(page.substr(from, to - from));
  for (std::string word; std::getline(words, word, '`') && std::getline(words, word, '`');) {
    shown.insert(word);
  }
  for (const auto key : keys_without_tensors()) {
    EXPECT_EQ(shown.erase(std::string(key)), 1U) << key;
  }
  EXPECT_TRUE(shown.empty()) << *shown.begin();
}

// The folder names a file that is called as all are.
TEST_F(ConfigKeys, AFileConfigJsonHasTheNameOfItsFolder) {
  std::filesystem::create_directory(folder / "Mine-7B");
  std::filesystem::copy(configs / "mistral-7b.json", folder / "Mine-7B" / "config.json");
  EXPECT_EQ(read_published_config(folder / "Mine-7B" / "config.json").name, "Mine-7B");
  EXPECT_EQ(read_published_config(configs / "mistral-7b.json").name, "mistral-7b");
}

}  // namespace
}  // namespace ringside
