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
// Grouped-query attention; biases, norms of queries and keys, an output gate as the config says.
Tensors attention_tensors(const PublishedConfig& config, const std::string& prefix);
Tensors delta_net_tensors(const PublishedConfig& config, const std::string& prefix);
// Biases are where it goes down to a rank, and where it comes out.
Tensors latent_attention_tensors(const PublishedConfig& config, const std::string& prefix);
// SwiGLU of three matrices.
Tensors mlp_tensors(const std::string& prefix, std::string_view group, std::size_t hidden,
                    std::size_t ffn, bool bias = false);
// Routed experts, shared ones where there are any, the router.
Tensors experts_tensors(const PublishedConfig& config, const std::string& prefix);
Tensors vision_tensors(const PublishedConfig& config);

}  // namespace ringside
