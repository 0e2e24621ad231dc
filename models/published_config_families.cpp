#include "models/published_config_families.hpp"

#include <array>

#include "runtime/files/quoted.hpp"

namespace ringside {

namespace {

// As the classes of the transformers library have them, unless another line says so.
struct Kind {
  std::string_view model_type;
  Family family;
  std::size_t kv_heads;    // absent; 0: as many as heads, which null always means
  std::size_t head_width;  // absent; 0: hidden_size over heads, which null always means
};

constexpr std::array<Kind, 8> kinds{{{"llama", Family::llama, 0, 0},
                                     {"mistral", Family::mistral, 8, 0},
                                     {"qwen3", Family::qwen3, 32, 128},
                                     {"qwen3_moe", Family::qwen3, 4, 0},
                                     {"qwen3_5", Family::qwen3_5, 4, 256},
                                     {"deepseek_v2", Family::deepseek_v2, 0, 0},
                                     {"deepseek_v3", Family::deepseek_v3, 0, 0},
                                     {"kimi_k2", Family::deepseek_v3, 0, 0}}};

Kind kind_of(const ConfigSection& document) {
  const std::string type = document.text("model_type");
  std::string known;
  for (const Kind& kind : kinds) {
    if (kind.model_type == type) {
      return kind;
    }
    known += (known.empty() ? "" : ", ") + std::string(kind.model_type);
  }
  document.refuse("model_type",
                  "\"" + escaped(shortened(type)) + "\" is not known: it is one of " + known);
}

// Another architecture has another head: of classes, of a score, or none.
void require_language_model(const ConfigSection& document) {
  for (const std::string& name : document.texts("architectures")) {
    if (!name.ends_with("ForCausalLM") && !name.ends_with("ForConditionalGeneration")) {
      document.refuse("architectures", "names " + escaped(shortened(name)) +
                                           ": only the head of a language model is counted, of "
                                           "…ForCausalLM and …ForConditionalGeneration");
    }
  }
}

// A list of the kinds of all layers says again what the interval says.
void require_layer_types(const ConfigSection& text, std::size_t layers, std::size_t interval) {
  const auto types = text.texts("layer_types");
  for (std::size_t i = 0; i < types.size() || (!types.empty() && i < layers); ++i) {
    const char* expected = (i + 1) % interval == 0 ? "full_attention" : "linear_attention";
    if (types.size() != layers || types[i] != expected) {
      text.refuse("layer_types",
                  "does not say what full_attention_interval = " + std::to_string(interval) +
                      " and num_hidden_layers = " + std::to_string(layers) + " say: layer " +
                      std::to_string(i) + " should be " + expected);
    }
  }
}

GatedDeltaNetConfig delta_net_of(const ConfigSection& text, std::size_t layers) {
  const std::size_t interval = text.number_or("full_attention_interval", 4);
  require_layer_types(text, layers, interval);
  return {.interval = interval,
          .key_heads = text.number_or("linear_num_key_heads", 16),
          .value_heads = text.number_or("linear_num_value_heads", 32),
          .key_width = text.number_or("linear_key_head_dim", 128),
          .value_width = text.number_or("linear_value_head_dim", 128),
          .kernel = text.number_or("linear_conv_kernel_dim", 4)};
}

VisionConfig vision_of(const ConfigSection& vision, std::size_t hidden, const std::string& family) {
  const VisionConfig config{.depth = vision.number("depth"),
                            .hidden = vision.number("hidden_size"),
                            .ffn = vision.number("intermediate_size"),
                            .channels = vision.number_or("in_channels", 3),
                            .patch = vision.number_or("patch_size", 16),
                            .frames = vision.number_or("temporal_patch_size", 2),
                            .merge = vision.number_or("spatial_merge_size", 2),
                            .positions = vision.number_or("num_position_embeddings", 2304)};
  if (const std::size_t out = vision.number_or("out_hidden_size", hidden); out != hidden) {
    vision.refuse(
        "out_hidden_size",
        "= " + std::to_string(out) + " is not the text's hidden_size = " + std::to_string(hidden));
  }
  vision.require_nothing_else(family);
  return config;
}

LatentAttentionConfig latent_of(const ConfigSection& text) {
  const std::size_t rank = text.says_null("q_lora_rank") ? 0 : text.number_or("q_lora_rank", 1536);
  return {.query_rank = rank,
          .key_value_rank = text.number("kv_lora_rank"),
          .plain_width = text.number("qk_nope_head_dim"),
          .rotary_width = text.number("qk_rope_head_dim"),
          .value_width = text.number("v_head_dim")};
}

// Whether its router has a bias of the scores.
bool score_bias_of(const ConfigSection& text, Family family) {
  const bool third = family == Family::deepseek_v3;
  const std::string method = text.text_or("topk_method", third ? "noaux_tc" : "greedy");
  const bool known =
      third ? method == "noaux_tc" : method == "greedy" || method == "group_limited_greedy";
  if (!known) {
    text.refuse("topk_method", "\"" + escaped(shortened(method)) + "\" is not known here: it is " +
                                   (third ? "noaux_tc" : "greedy or group_limited_greedy"));
  }
  return third;
}

// Newer files say num_local_experts, which is the same number by another name.
std::size_t routed_of(const ConfigSection& text, const char* key) {
  const std::size_t other = text.count_or("num_local_experts", 0);
  const std::size_t routed = other > 0 && !text.has(key) ? other : text.number(key);
  if (other > 0 && other != routed) {
    text.refuse("num_local_experts",
                "= " + std::to_string(other) + " is not " + key + " = " + std::to_string(routed));
  }
  return routed;
}

std::optional<ExpertsConfig> deepseek_experts_of(const ConfigSection& text, Family family) {
  const bool third = family == Family::deepseek_v3;
  // A group for all, where it is null.
  const auto groups = [&](const char* key, std::size_t absent) {
    return text.says_null(key) ? 1 : text.number_or(key, absent);
  };
  const auto count = [&](const char* key, std::size_t absent) {
    return text.says_null(key) ? 0 : text.count_or(key, absent);
  };
  ExpertsConfig experts{.dense_layers = count("first_k_dense_replace", third ? 3 : 0),
                        .every = text.number_or("moe_layer_freq", 1),
                        .shared = count("n_shared_experts", third ? 1 : 2),
                        .groups = groups("n_group", third ? 8 : 1),
                        .token_groups = groups("topk_group", third ? 4 : 1),
                        .score_bias = score_bias_of(text, family)};
  const bool dense = text.says_null("n_routed_experts");
  // Without experts these are asked for all the same, for they then mean nothing.
  const auto needed = [&](const char* key) {
    return dense ? text.number_or(key, 1) : text.number(key);
  };
  experts.routed = dense ? 1 : routed_of(text, "n_routed_experts");
  experts.per_token = needed("num_experts_per_tok");
  experts.ffn = needed("moe_intermediate_size");
  return dense ? std::nullopt : std::optional(experts);
}

ExpertsConfig qwen_experts_of(const ConfigSection& text) {
  return {.every = text.number_or("decoder_sparse_step", 1),
          .ahead = 1,
          .mlp_layers = text.numbers("mlp_only_layers"),
          .routed = routed_of(text, "num_experts"),
          .per_token = text.number_or("num_experts_per_tok", 8),
          .ffn = text.number("moe_intermediate_size"),
          .groups = 1,
          .token_groups = 1};
}

void add_family(PublishedConfig& c, const Kind& kind, const ConfigSection& document,
                const ConfigSection& text) {
  switch (c.family) {
    case Family::llama:
      c.mlp_bias = text.flag_or("mlp_bias", false);
      break;
    case Family::mistral:
      break;
    case Family::qwen3:
      c.query_norms = true;
      // Windows of sliding attention, or none: the same tensors.
      text.texts("layer_types");
      if (kind.model_type == "qwen3_moe") {
        c.experts = qwen_experts_of(text);
      }
      break;
    case Family::qwen3_5:
      c.query_norms = true;
      c.output_gate = text.flag_or("attn_output_gate", true);
      c.delta_net = delta_net_of(text, c.layers);
      c.vision =
          vision_of(document.section("vision_config"), c.hidden, std::string(kind.model_type));
      c.predictors = text.count_or("mtp_num_hidden_layers", 0);
      break;
    case Family::deepseek_v2:
    case Family::deepseek_v3:
      c.latent = latent_of(text);
      c.experts = deepseek_experts_of(text, c.family);
      c.predictors = text.count_or("num_nextn_predict_layers", 0);
      break;
  }
  if (c.family != Family::mistral) {
    c.attention_bias = text.flag_or("attention_bias", false);
  }
}

// Two places may say it, and must say the same.
bool tied_of(const ConfigSection& document, const ConfigSection& text) {
  const bool tied = text.flag_or("tie_word_embeddings", false);
  if (document.flag_or("tie_word_embeddings", tied) != tied) {
    document.refuse("tie_word_embeddings", "is not what text_config says");
  }
  return tied;
}

std::size_t head_width_of(const ConfigSection& text, const Kind& kind, const PublishedConfig& c) {
  const std::size_t absent = kind.head_width == 0 ? c.hidden / c.heads : kind.head_width;
  const std::size_t width =
      text.says_null("head_dim") ? c.hidden / c.heads : text.number_or("head_dim", absent);
  if (width == 0) {
    text.refuse("hidden_size", "= " + std::to_string(c.hidden) + " is less than " +
                                   std::to_string(c.heads) + " heads: say head_dim");
  }
  return width;
}

PublishedConfig config_of(const ConfigSection& document, const ConfigSection& text) {
  const Kind kind = kind_of(document);
  require_language_model(document);
  PublishedConfig c{.name = {},
                    .family = kind.family,
                    .layers = text.number("num_hidden_layers"),
                    .hidden = text.number("hidden_size"),
                    .ffn = text.number("intermediate_size"),
                    .vocab = text.number("vocab_size"),
                    .heads = text.number("num_attention_heads")};
  const std::size_t absent = kind.kv_heads == 0 ? c.heads : kind.kv_heads;
  c.kv_heads = text.says_null("num_key_value_heads")
                   ? c.heads
                   : text.number_or("num_key_value_heads", absent);
  c.head_width = head_width_of(text, kind, c);
  c.tied = tied_of(document, text);
  add_family(c, kind, document, text);
  if (c.latent) {
    c.kv_heads = c.heads;  // each has keys and values of its own
  }
  if (c.predictors > 1) {
    document.refuse("the model", "has " + std::to_string(c.predictors) +
                                     " multi-token prediction layers: 0 and 1 are known");
  }
  const std::string family(kind.model_type);
  text.require_nothing_else(family);
  document.require_nothing_else(family);
  return c;
}

}  // namespace

PublishedConfig config_of(const ConfigSection& document) {
  if (document.has("text_config")) {
    return config_of(document, document.section("text_config"));
  }
  return config_of(document, document);
}

}  // namespace ringside
