// Published models tensor by tensor, against the counts of their checkpoints.
#include "models/published_model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "runtime/errors.hpp"
#include "tests/support/temporary_folder.hpp"

namespace ringside {
namespace {

struct Group {
  std::size_t tensors = 0;
  std::size_t elements = 0;

  bool operator==(const Group&) const = default;
};

void PrintTo(const Group& group, std::ostream* out) {
  *out << group.tensors << " tensors, " << group.elements;
}

using Groups = std::map<std::string_view, Group>;

Groups groups_of(const PublishedModel& model) {
  Groups groups;
  for (const auto& layer : model.layers) {
    for (const auto& tensor : layer.tensors) {
      ++groups[tensor.group].tensors;
      groups[tensor.group].elements += tensor.count();
    }
  }
  return groups;
}

TEST(PublishedModel, Qwen27HasTheTensorsOfItsCheckpoint) {
  const auto model = published_model("qwen3.8-27b");
  EXPECT_EQ(groups_of(model), (Groups{{"embed", {1, 1'271'398'400}},
                                      {"linear_attn", {432, 5'562'051'072}},
                                      {"full_attn", {96, 1'677'729'792}},
                                      {"mlp", {192, 17'112'760'320}},
                                      {"layer_norms", {128, 655'360}},
                                      {"final_norm", {1, 5'120}},
                                      {"lm_head", {1, 1'271'398'400}},
                                      {"vision", {333, 460'730'096}},
                                      {"mtp", {15, 424'699'392}}}));
  EXPECT_EQ(model.count(), 27'781'427'952U);
  EXPECT_EQ(model.tensors(), 1199U);
}

TEST(PublishedModel, Qwen8HasTheTensorsOfItsCheckpoint) {
  const auto model = published_model("qwen3-8b");
  EXPECT_EQ(groups_of(model), (Groups{{"embed", {1, 622'329'856}},
                                      {"full_attn", {216, 1'509'958'656}},
                                      {"mlp", {108, 5'435'817'984}},
                                      {"layer_norms", {72, 294'912}},
                                      {"final_norm", {1, 4'096}},
                                      {"lm_head", {1, 622'329'856}}}));
  EXPECT_EQ(model.count(), 8'190'735'360U);
}

TEST(PublishedModel, DeepSeekV3HasTheTensorsOfItsCheckpoint) {
  const auto model = published_model("deepseek-v3");
  EXPECT_EQ(groups_of(model), (Groups{{"embed", {1, 926'679'040}},
                                      {"mla", {427, 11'413'547'008}},
                                      {"layer_norms", {122, 874'496}},
                                      {"dense_mlp", {9, 1'189'085'184}},
                                      {"routed_experts", {44'544, 653'908'770'816}},
                                      {"shared_expert", {174, 2'554'331'136}},
                                      {"router", {58, 106'430'464}},
                                      {"router_bias", {58, 14'848}},
                                      {"final_norm", {1, 7'168}},
                                      {"lm_head", {1, 926'679'040}},
                                      {"mtp", {786, 11'610'068'224}},
                                      {"mtp_shared_copy", {2, 1'853'358'080}}}));
  EXPECT_EQ(model.count(), 684'489'845'504U);
  EXPECT_EQ(model.tensors(), 46'183U);
  EXPECT_EQ(model.count() - model.count("mtp") - model.count("mtp_shared_copy"), 671'026'419'200U);
}

TEST(PublishedModel, Llama405HasTheTensorsOfItsCheckpoint) {
  const auto model = published_model("llama-3-405b");
  EXPECT_EQ(groups_of(model), (Groups{{"embed", {1, 2'101'346'304}},
                                      {"full_attn", {504, 71'873'593'344}},
                                      {"mlp", {378, 329'772'957'696}},
                                      {"layer_norms", {252, 4'128'768}},
                                      {"final_norm", {1, 16'384}},
                                      {"lm_head", {1, 2'101'346'304}}}));
  EXPECT_EQ(model.count(), 405'853'388'800U);
}

const PublishedLayer& layer_of(const PublishedModel& model, std::string_view name) {
  const auto found = std::find_if(model.layers.begin(), model.layers.end(),
                                  [&](const auto& layer) { return layer.name == name; });
  if (found == model.layers.end()) {
    throw BadUse("no layer " + std::string(name));
  }
  return *found;
}

const PublishedTensor& tensor_of(const PublishedModel& model, std::string_view name) {
  for (const auto& layer : model.layers) {
    for (const auto& tensor : layer.tensors) {
      if (tensor.name == name) {
        return tensor;
      }
    }
  }
  throw BadUse("no tensor " + std::string(name));
}

TEST(PublishedModel, ThreeOfFourLayersOfQwen27AreGatedDeltaNets) {
  const auto model = published_model("qwen3.8-27b");
  const auto parameters = [&](const std::string& layer) {
    return layer_of(model, layer + ".attention").parameters() +
           layer_of(model, layer + ".mlp").parameters();
  };
  EXPECT_EQ(layer_of(model, "layers.2.attention").kind, LayerKind::gated_delta_net);
  EXPECT_EQ(layer_of(model, "layers.3.attention").kind, LayerKind::attention);
  EXPECT_EQ(parameters("layers.2"), 383'273'184U);
  EXPECT_EQ(parameters("layers.3"), 372'255'232U);
  EXPECT_EQ(layer_of(model, "vision").parameters(), 460'730'096U);
  EXPECT_EQ(layer_of(model, "mtp").parameters(), 424'699'392U);
  EXPECT_EQ(model.layers.front().name, "embed");
  EXPECT_EQ(model.layers.back().name, "head");
}

TEST(PublishedModel, CopiesAndRouterBiasesAreNotTrained) {
  const auto model = published_model("deepseek-v3");
  std::size_t trained = 0;
  for (const auto& layer : model.layers) {
    trained += layer.parameters();
  }
  EXPECT_EQ(trained, 671'026'404'352U + 11'610'068'224U - 256U);
}

TEST(PublishedModel, TensorsAreCutAsMegatronCutsThem) {
  const auto model = published_model("qwen3.8-27b");
  const std::string text = "model.language_model.";
  const auto split = [&](const std::string& name) { return tensor_of(model, name).split; };
  EXPECT_EQ(split(text + "embed_tokens.weight"), 0);
  EXPECT_EQ(split("lm_head.weight"), 0);
  EXPECT_EQ(split(text + "layers.3.self_attn.q_proj.weight"), 0);
  EXPECT_EQ(split(text + "layers.3.self_attn.o_proj.weight"), 1);
  EXPECT_EQ(split(text + "layers.0.mlp.up_proj.weight"), 0);
  EXPECT_EQ(split(text + "layers.0.mlp.down_proj.weight"), 1);
  EXPECT_EQ(split(text + "layers.0.input_layernorm.weight"), -1);
  EXPECT_EQ(split("mtp.layers.0.mlp.up_proj.weight"), -1);
  EXPECT_EQ(split("model.visual.blocks.0.attn.qkv.weight"), -1);
  EXPECT_EQ(tensor_of(model, text + "layers.3.self_attn.k_proj.weight").parts, 4U);
}

// Multiplications a token: matrices of the text alone, 8 of 256 experts. The published 36.6 billion
// activated parameters hold norms and biases too, which are no products, but not the embedding.
TEST(PublishedModel, CountsProductsOfTextOnly) {
  const auto products = [](const PublishedModel& model) {
    std::size_t sum = 0;
    for (const auto& layer : model.layers) {
      for (const auto& tensor : layer.tensors) {
        sum += layer.name == "mtp" ? 0 : tensor.products;
      }
    }
    return sum;
  };
  const auto llama = published_model("llama-3-405b");
  EXPECT_EQ(products(llama),
            llama.count("full_attn") + llama.count("mlp") + llama.count("lm_head"));
  const auto deepseek = published_model("deepseek-v3");
  const std::size_t small = deepseek.count("layer_norms") + deepseek.count("final_norm") +
                            61 * (1'536 + 512) + deepseek.count("router_bias");
  EXPECT_EQ(products(deepseek) + small, 36'625'618'432U);
}

class ConfigFile : public testing::Test {
 protected:
  // The config of Qwen3-8B with one text replaced.
  PublishedConfig changed(const std::string& from, const std::string& to) {
    std::ifstream in(RINGSIDE_SOURCE_DIR "/models/configs/qwen3-8b.json");
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    std::ofstream(file) << text.replace(at, from.size(), to);
    return read_published_config(file);
  }

  std::string refusal(const std::string& from, const std::string& to) {
    try {
      published_model(changed(from, to));
    } catch (const BadUse& error) {
      return error.what();
    }
    return "nothing was refused";
  }

  TemporaryFolder folder;
  std::filesystem::path file = folder / "mine.json";
};

// Negative control: another number is another count.
TEST_F(ConfigFile, WithOneNumberChangedHasAnotherCount) {
  EXPECT_EQ(published_model(changed("12288", "12288")).count(), 8'190'735'360U);
  EXPECT_EQ(published_model(changed("12288", "12289")).count(), 8'190'735'360U + 36 * 3 * 4096);
  EXPECT_EQ(
      published_model(changed("\"num_hidden_layers\": 36", "\"num_hidden_layers\": 35")).count(),
      8'190'735'360U - 192'946'432U);  // a layer less
}

TEST_F(ConfigFile, ThatIsWrongIsRefusedWithItsKey) {
  const std::string name = file.string();
  EXPECT_EQ(refusal("\"hidden_size\": 4096", "\"width\": 4096"), name + ": hidden_size is missing");
  EXPECT_EQ(refusal("12288", "-3"),
            name + ": intermediate_size must be a whole number from 1 to 16777216, and is -3");
  EXPECT_EQ(refusal("12288", "4e3"),
            name + ": intermediate_size must be a whole number from 1 to 16777216, and is 4000.0");
  EXPECT_EQ(refusal("\"model_type\": \"qwen3\"", "\"model_type\": \"qwen9\""),
            name +
                ": model_type \"qwen9\" is not known: it is one of llama, mistral, qwen3, "
                "qwen3_moe, qwen3_5, deepseek_v2, deepseek_v3, kimi_k2");
  EXPECT_EQ(refusal("\"num_key_value_heads\": 8", "\"num_key_value_heads\": 7"),
            "model mine: 32 heads cannot share 7 key and value heads evenly");
  EXPECT_TRUE(
      refusal("\"head_dim\": 128,", "\"head_dim\": 128").starts_with(name + ": is no JSON"));
}

TEST(PublishedConfig, ThatDoesNotExistIsRefusedWithThoseThatDo) {
  try {
    published_config("qwen3.8-28b");
    FAIL() << "nothing was refused";
  } catch (const BadUse& error) {
    EXPECT_STREQ(error.what(),
                 "there is no model config \"qwen3.8-28b\": there are deepseek-v3, llama-3-405b, "
                 "qwen3-8b, qwen3.8-27b");
  }
}

}  // namespace
}  // namespace ringside
