// Small jobs of context parallelism on meta tensors: what is counted while they run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/published_model.hpp"
#include "parallel/context/context_parallel.hpp"
#include "runtime/topology.hpp"

namespace ringside {

// (query, key) that each rank computes of one sample and one head, or with Ulysses of a head for
// each rank, over the ranks.
std::vector<std::int64_t> executed_pairs(const ContextParallelOptions& options, int ranks,
                                         std::size_t tokens);

// Operations that each rank charges for forward and backward of the same, heads two wide.
std::vector<std::int64_t> executed_operations(const ContextParallelOptions& options, int ranks,
                                              std::size_t tokens);

// "10 : 26 : 42 : 58"
std::string with_colons(const std::vector<std::int64_t>& values);

// What each rank sends of keys and values in the forward pass of one full-attention layer of a
// published model, in bf16, over a ring.
struct KeysSent {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;
};

std::vector<KeysSent> executed_keys(const PublishedModel& model, int ranks, std::size_t tokens,
                                    const Cluster& cluster);

// Activations in the ledger of one card that keeps the input of every layer, attention and MLP
// together, and nothing else: forward of one sample through a published model in bf16.
std::int64_t executed_layer_inputs(const PublishedModel& model, std::size_t tokens);

}  // namespace ringside
