// A scenario's settings as options of what trains in parallel.
#pragma once

#include <vector>

#include "models/optimizer.hpp"
#include "parallel/context/context_parallel.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/mesh.hpp"
#include "parallel/tensor_parallel.hpp"
#include "parallel/zero.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// Ranks over which gradients are summed: what tensor parallelism leaves.
inline int gradient_ranks(const Settings& s) {
  return s.ranks / s.parallel.tp;
}

// Replicas over which the batch is cut: context-parallel ranks share its samples.
inline int data_parallel_ranks(const Settings& s) {
  return gradient_ranks(s) / s.parallel.cp;
}

// Of gradients, losses and counted tokens.
std::vector<Axis> gradient_axes();

Mesh mesh_of(const Settings& settings, int rank);

ContextParallelOptions context_options(const Settings& settings, Fault fault = Fault::none);

DataParallelOptions dp_options(const Settings& settings, Fault fault = Fault::none,
                               const AllReduce* planted = nullptr);
ZeroOptions zero_options(const Settings& settings, Fault fault = Fault::none);
TensorParallelOptions tensor_options(const Settings& settings, Fault fault = Fault::none);
OptimizerConfig optimizer_of(const Settings& settings);

// All ranks, in order.
std::vector<int> everyone(const Rank& rank);

}  // namespace ringside
