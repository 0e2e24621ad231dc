// What a model is made from, whichever kind it is.
#pragma once

#include <variant>

#include "models/gpt.hpp"
#include "models/mlp.hpp"

namespace ringside {

using ModelConfig = std::variant<MlpConfig, GptConfig>;

DType dtype_of(const ModelConfig& config);

// Elements of every tensor, by layer in forward order, without making any.
std::vector<std::vector<std::size_t>> tensor_counts(const ModelConfig& config);

// Elements that the activations of one token take in a sample of `sequence` tokens, roughly from
// above.
std::size_t activations_of_a_token(const ModelConfig& config, std::size_t sequence);

// Throws what make_mlp and make_gpt throw.
std::unique_ptr<Model> make_model(Device device, const ModelConfig& config, std::uint64_t seed);

}  // namespace ringside
