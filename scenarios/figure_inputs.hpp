// What the figures are computed from: the published models and the chapter's assumptions.
#pragma once

#include "models/published_model.hpp"
#include "runtime/topology.hpp"

namespace ringside {

struct FigureInputs {
  PublishedModel anchor = published_model("qwen3.8-27b");
  PublishedModel llama = published_model("llama-3-405b");
  PublishedModel qwen = published_model("qwen3-8b");
  PublishedModel deepseek = published_model("deepseek-v3");
  Cluster cluster{};               // 160 GB/s, 50 GB/s and 400 TFLOP/s by default
  double card_bytes = 80e9;        // device memory of a GPU
  double tokens = 4096;            // of a micro-batch
  double long_sequence = 131'072;  // tokens
  double bytes_per_element = 2;    // bf16
  int ranks = 8;                   // of a machine
  int many_ranks = 64;

  double parameters() const { return static_cast<double>(anchor.count()); }

  double gradient_bytes() const { return bytes_per_element * parameters(); }

  double hidden() const { return static_cast<double>(anchor.config.hidden); }

  double layers() const { return static_cast<double>(anchor.config.layers); }

  double head() const { return static_cast<double>(anchor.count("lm_head")); }

  // Parameters of the text's layers and its final norm.
  double body() const;

  double nvlink() const { return static_cast<double>(cluster.nvlink.bandwidth.per_second); }

  double ib() const { return static_cast<double>(cluster.ib.bandwidth.per_second); }

  double flops() const { return static_cast<double>(cluster.flops.per_second); }
};

// Bytes that a parameter takes in mixed precision with Adam (ZeRO, section 3.1): bf16 weight and
// gradient; master weight, momentum and variance in f32.
inline constexpr double weight_bytes = 2;
inline constexpr double gradient_element_bytes = 2;
inline constexpr double optimizer_bytes = 4 + 4 + 4;
inline constexpr double state_bytes = weight_bytes + gradient_element_bytes + optimizer_bytes;

// Activations of a GPT layer a token and hidden unit, all but the attention scores, in 16 bits
// (Korthikanti and others 2022, section 4.1).
inline constexpr double layer_activation_bytes = 34;

// What a ring sends a rank of `bytes`: (N-1)/N of them a pass.
constexpr double ring_pass(double bytes, double ranks) {
  return bytes * (ranks - 1) / ranks;
}

}  // namespace ringside
