// A byte-level language model: embed the last k bytes, hidden layers, softmax over the next byte.
// (After Bengio et al. 2003, section 2.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "models/model.hpp"

namespace ringside {

struct MlpConfig {
  std::size_t context = 8;     // bytes that a prediction sees: k
  std::size_t embedding = 16;  // numbers per byte: e
  std::size_t hidden = 128;
  std::size_t layers = 2;  // hidden ones; none is allowed
  std::size_t vocab = 256;
  bool batch_norm = false;   // of what each hidden layer returns
  DType dtype = DType::f32;  // or f64; or bf16: weights and gradients, computed with in f32
};

// Elements of every tensor, by layer in forward order, without making any.
std::vector<std::vector<std::size_t>> tensor_counts(const MlpConfig& config);

// Parameters by layer: "embedding.weight" [vocab, e]; "hidden.<i>.weight" [in, hidden],
// "hidden.<i>.bias" [hidden], with
// batch_norm "norm.<i>.weight" and "norm.<i>.bias" [hidden] after it; "head.weight" [in, vocab],
// "head.bias" [vocab]. Values depend on (seed, parameter name) only; models of all types start
// equal, but for the rounding to bf16. Throws BadUse for a width of 0, a vocabulary below 256, or
// another type than f32, f64 and bf16.
std::unique_ptr<Model> make_mlp(Device device, const MlpConfig& config, std::uint64_t seed);

}  // namespace ringside
