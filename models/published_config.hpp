// The numbers of a published model's config.json, as Hugging Face writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

// Qwen3's and DeepSeek's mixtures of experts are of the family of their attention.
enum class Family : std::uint8_t { llama, mistral, qwen3, qwen3_5, deepseek_v2, deepseek_v3 };

// Gated DeltaNet (Yang and others 2024), in the layers that are not every `interval`-th.
struct GatedDeltaNetConfig {
  std::size_t interval = 0;  // every so many layers one is full attention
  std::size_t key_heads = 0;
  std::size_t value_heads = 0;
  std::size_t key_width = 0;  // of a head
  std::size_t value_width = 0;
  std::size_t kernel = 0;  // tokens that its convolution sees
};

// Multi-head latent attention (DeepSeek-V2, section 2.1).
struct LatentAttentionConfig {
  std::size_t query_rank = 0;  // 0: queries are made of the input by one matrix
  std::size_t key_value_rank = 0;
  std::size_t plain_width = 0;   // of a query's or key's head, without position
  std::size_t rotary_width = 0;  // with position
  std::size_t value_width = 0;
};

// A mixture of experts in the place of an MLP.
struct ExpertsConfig {
  std::size_t dense_layers = 0;  // the first ones have an MLP
  std::size_t every = 1;  // of the others, those layers whose number, with `ahead`, it divides
  std::size_t ahead = 0;
  std::vector<std::size_t> mlp_layers{};  // and not these
  std::size_t routed = 0;
  std::size_t shared = 0;
  std::size_t per_token = 0;     // routed experts that a token is sent to
  std::size_t ffn = 0;           // of an expert
  std::size_t groups = 0;        // nodes that the experts are spread over
  std::size_t token_groups = 0;  // of them a token may go to
  bool score_bias = false;       // of the router: moved by load, not trained by the loss

  bool in_layer(std::size_t layer) const;
};

// A vision transformer, and what brings its patches to the text's width.
struct VisionConfig {
  std::size_t depth = 0;
  std::size_t hidden = 0;
  std::size_t ffn = 0;
  std::size_t channels = 0;
  std::size_t patch = 0;   // pixels a side
  std::size_t frames = 0;  // of a patch
  std::size_t merge = 0;   // patches a side that become one token
  std::size_t positions = 0;
};

struct PublishedConfig {
  std::string name;  // "qwen3.8-27b"; of a file config.json, its folder's
  Family family = Family::llama;
  std::size_t layers = 0;
  std::size_t hidden = 0;
  std::size_t ffn = 0;
  std::size_t vocab = 0;
  std::size_t heads = 0;
  std::size_t kv_heads = 0;
  std::size_t head_width = 0;
  bool tied = false;
  bool attention_bias = false;  // of the projections in and out; of latent attention, see there
  bool mlp_bias = false;
  bool query_norms = false;    // of the heads of queries and keys
  bool output_gate = false;    // as wide as the queries
  std::size_t predictors = 0;  // multi-token prediction layers
  std::optional<GatedDeltaNetConfig> delta_net{};
  std::optional<LatentAttentionConfig> latent{};
  std::optional<ExpertsConfig> experts{};
  std::optional<VisionConfig> vision{};
};

// The names of models/configs/, in alphabetical order.
std::vector<std::string> published_names();

// One of them. Throws BadUse with the names that exist.
PublishedConfig published_config(std::string_view name);

// From any file. A key that it leaves out has the default of its family. Throws BadUse with the
// file, and what is malformed or missing in it, or might change tensors and is not known
// (published_config_keys.hpp).
PublishedConfig read_published_config(const std::filesystem::path& file);

}  // namespace ringside
