#include "models/published_config.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/errors.hpp"
#include "runtime/files/json_file.hpp"
#include "runtime/files/quoted.hpp"

namespace ringside {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::array<std::pair<std::string_view, Family>, 4> families{
    {{"llama", Family::llama},
     {"qwen3", Family::qwen3},
     {"qwen3_5", Family::qwen3_5},
     {"deepseek_v3", Family::deepseek_v3}}};

// Beside the source tree, or beside the program where that was moved.
fs::path configs_folder() {
  std::error_code ignored;
  const auto program = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& place :
       {fs::path(RINGSIDE_SOURCE_DIR), program, program / "..", program / "../.."}) {
    if (fs::is_directory(place / "models/configs", ignored)) {
      return (place / "models/configs").lexically_normal();
    }
  }
  throw BadUse("the model configs are neither at " RINGSIDE_SOURCE_DIR
               "/models/configs nor beside the program");
}

// An object of the file, which knows where it stands.
class Section {
 public:
  Section(const fs::path& file, std::string path, const Json& json)
      : file_(file), path_(std::move(path)), json_(json) {
    if (!json_.is_object()) {
      refuse(path_.empty() ? "the document" : path_, "must be an object");
    }
  }

  bool has(const char* key) const { return json_.contains(key); }

  std::size_t number(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() == 0 ||
        value.get<std::uint64_t>() > most) {
      refuse(path_of(key), "must be a whole number from 1 to " + std::to_string(most) +
                               ", and is " + quoted_json(value));
    }
    return value.get<std::size_t>();
  }

  bool flag(const char* key) const {
    const Json& value = at(key);
    if (!value.is_boolean()) {
      refuse(path_of(key), "must be true or false, and is " + quoted_json(value));
    }
    return value.get<bool>();
  }

  std::string text(const char* key) const {
    const Json& value = at(key);
    if (!value.is_string()) {
      refuse(path_of(key), "must be a text, and is " + quoted_json(value));
    }
    return value.get<std::string>();
  }

  Section section(const char* key) const { return {file_, path_of(key), at(key)}; }

  [[noreturn]] void refuse(const std::string& what, const std::string& why) const {
    throw BadUse(file_.string() + ": " + what + " " + why);
  }

 private:
  static constexpr std::uint64_t most = 1U << 24;  // so that no product of three wraps

  const Json& at(const char* key) const {
    if (!json_.contains(key)) {
      refuse(path_of(key), "is missing");
    }
    return json_.at(key);
  }

  std::string path_of(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

  fs::path file_;
  std::string path_;
  const Json& json_;
};

Family family_of(const Section& document) {
  const std::string type = document.text("model_type");
  std::string known;
  for (const auto& [name, family] : families) {
    if (name == type) {
      return family;
    }
    known += (known.empty() ? "" : ", ") + std::string(name);
  }
  document.refuse("model_type",
                  "\"" + escaped(shortened(type)) + "\" is not known: it is one of " + known);
}

GatedDeltaNetConfig delta_net_of(const Section& text) {
  return {.interval = text.number("full_attention_interval"),
          .key_heads = text.number("linear_num_key_heads"),
          .value_heads = text.number("linear_num_value_heads"),
          .key_width = text.number("linear_key_head_dim"),
          .value_width = text.number("linear_value_head_dim"),
          .kernel = text.number("linear_conv_kernel_dim")};
}

VisionConfig vision_of(const Section& vision) {
  return {.depth = vision.number("depth"),
          .hidden = vision.number("hidden_size"),
          .ffn = vision.number("intermediate_size"),
          .channels = vision.number("in_channels"),
          .patch = vision.number("patch_size"),
          .frames = vision.number("temporal_patch_size"),
          .merge = vision.number("spatial_merge_size"),
          .positions = vision.number("num_position_embeddings")};
}

LatentAttentionConfig latent_of(const Section& text) {
  return {.query_rank = text.number("q_lora_rank"),
          .key_value_rank = text.number("kv_lora_rank"),
          .plain_width = text.number("qk_nope_head_dim"),
          .rotary_width = text.number("qk_rope_head_dim"),
          .value_width = text.number("v_head_dim")};
}

ExpertsConfig experts_of(const Section& text) {
  return {.dense_layers = text.number("first_k_dense_replace"),
          .routed = text.number("n_routed_experts"),
          .shared = text.number("n_shared_experts"),
          .per_token = text.number("num_experts_per_tok"),
          .ffn = text.number("moe_intermediate_size"),
          .groups = text.number("n_group"),
          .token_groups = text.number("topk_group")};
}

PublishedConfig config_of(const Section& document, const Section& text) {
  PublishedConfig c{.name = {},
                    .family = family_of(document),
                    .layers = text.number("num_hidden_layers"),
                    .hidden = text.number("hidden_size"),
                    .ffn = text.number("intermediate_size"),
                    .vocab = text.number("vocab_size"),
                    .heads = text.number("num_attention_heads"),
                    .kv_heads = text.number("num_key_value_heads")};
  c.head_width = text.has("head_dim") ? text.number("head_dim") : c.hidden / c.heads;
  c.tied = text.flag("tie_word_embeddings");
  if (c.family == Family::qwen3_5) {
    c.delta_net = delta_net_of(text);
    c.vision = vision_of(document.section("vision_config"));
    c.predictors = text.number("mtp_num_hidden_layers");
  } else if (c.family == Family::deepseek_v3) {
    c.latent = latent_of(text);
    c.experts = experts_of(text);
    c.predictors = text.number("num_nextn_predict_layers");
  }
  if (c.predictors > 1) {
    document.refuse("the model", "has " + std::to_string(c.predictors) +
                                     " multi-token prediction layers: 0 and 1 are known");
  }
  return c;
}

}  // namespace

std::vector<std::string> published_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(configs_folder())) {
    if (entry.path().extension() == ".json") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

PublishedConfig published_config(std::string_view name) {
  const auto names = published_names();
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::string known;
    for (const auto& other : names) {
      known += (known.empty() ? "" : ", ") + other;
    }
    throw BadUse("there is no model config \"" + std::string(name) + "\": there are " + known);
  }
  return read_published_config(configs_folder() / (std::string(name) + ".json"));
}

PublishedConfig read_published_config(const fs::path& file) {
  constexpr std::uintmax_t most_bytes = 1 << 20;
  const Json json = read_json(file, "a config.json as models are published with", most_bytes);
  const Section document(file, "", json);
  const bool nested = json.contains("text_config");
  PublishedConfig config = config_of(document, nested ? document.section("text_config") : document);
  config.name = file.stem().string();
  return config;
}

}  // namespace ringside
