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

enum class Family : std::uint8_t { llama, qwen3, qwen3_5, deepseek_v3 };

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
  std::size_t query_rank = 0;
  std::size_t key_value_rank = 0;
  std::size_t plain_width = 0;   // of a query's or key's head, without position
  std::size_t rotary_width = 0;  // with position
  std::size_t value_width = 0;
};

// A mixture of experts in all layers but the first ones.
struct ExpertsConfig {
  std::size_t dense_layers = 0;
  std::size_t routed = 0;
  std::size_t shared = 0;
  std::size_t per_token = 0;     // routed experts that a token is sent to
  std::size_t ffn = 0;           // of an expert
  std::size_t groups = 0;        // nodes that the experts are spread over
  std::size_t token_groups = 0;  // of them a token may go to
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
  std::string name;  // "qwen3.8-27b"
  Family family = Family::llama;
  std::size_t layers = 0;
  std::size_t hidden = 0;
  std::size_t ffn = 0;
  std::size_t vocab = 0;
  std::size_t heads = 0;
  std::size_t kv_heads = 0;
  std::size_t head_width = 0;
  bool tied = false;
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

// From any file. Throws BadUse with the file, and what is malformed, missing or no whole number
// above 0 in it.
PublishedConfig read_published_config(const std::filesystem::path& file);

}  // namespace ringside
