// The measures of a decoder-only transformer.
#pragma once

#include <cstddef>
#include <vector>

#include "models/recompute.hpp"
#include "models/router_config.hpp"
#include "runtime/dtype.hpp"

namespace ringside {

struct GptConfig {
  std::size_t layers = 2;  // blocks
  std::size_t hidden = 64;
  std::size_t heads = 4;
  std::size_t kv_heads = 2;
  std::size_t head_dim = 0;  // 0: hidden / heads
  std::size_t ffn = 172;
  std::size_t vocab = 256;
  bool tied = false;  // the head computes with the embedding's table
  double rope_base = 10'000;
  double norm_eps = 1e-6;
  DType dtype = DType::f32;  // or f64; or bf16: weights and gradients, computed with in f32
  Recompute recompute = Recompute::none;
  // A mixture of so many experts in the place of every MLP, each of width ffn; 0: none (dense).
  std::size_t experts = 0;
  std::size_t top_k = 2;  // experts a token
  RouterConfig router{};

  std::size_t head_width() const { return head_dim != 0 ? head_dim : hidden / heads; }
};

// Elements of every tensor, by layer in forward order, without making any.
std::vector<std::vector<std::size_t>> tensor_counts(const GptConfig& config);

// Of the part that each rank has when the model is cut over so many, padding included. Throws what
// require_usable does (gpt_cut.hpp).
std::vector<std::vector<std::size_t>> tensor_counts(const GptConfig& config, int ranks);

}  // namespace ringside
