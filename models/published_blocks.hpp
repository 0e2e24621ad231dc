// The parts that published models are built of, as lists of their tensors.
#pragma once

#include <string>
#include <vector>

#include "models/published_model.hpp"

namespace ringside {

using Tensors = std::vector<PublishedTensor>;

// A matrix (out, in) that tokens are multiplied with: cut by its outputs, by its inputs, or whole.
PublishedTensor cut_by_outputs(std::string name, std::string_view group, std::size_t out,
                               std::size_t in, std::size_t parts);
PublishedTensor cut_by_inputs(std::string name, std::string_view group, std::size_t out,
                              std::size_t in, std::size_t parts);
PublishedTensor whole(std::string name, std::string_view group, std::size_t out, std::size_t in);
// A vector: a scale, a bias.
PublishedTensor vector(std::string name, std::string_view group, std::size_t count);

// Names begin with `prefix`, "model.layers.3.".
// Grouped-query attention; with norms of queries and keys, and an output gate, in Qwen's families.
Tensors attention_tensors(const PublishedConfig& config, const std::string& prefix);
Tensors delta_net_tensors(const PublishedConfig& config, const std::string& prefix);
Tensors latent_attention_tensors(const PublishedConfig& config, const std::string& prefix);
// SwiGLU of three matrices.
Tensors mlp_tensors(const std::string& prefix, std::string_view group, std::size_t hidden,
                    std::size_t ffn);
// Routed experts, shared ones, the router.
Tensors experts_tensors(const PublishedConfig& config, const std::string& prefix);
Tensors vision_tensors(const PublishedConfig& config);

}  // namespace ringside
