// Reduce-scatter: of the reduction of all ranks' buffers, rank r ends with chunk r (chunk.hpp).
#pragma once

#include "collectives/algorithm.hpp"
#include "runtime/tensor.hpp"

namespace ringside {

using ReduceScatter = Algorithm<void(Comm&, Buffer data, ReduceOp)>;
std::span<const ReduceScatter> reduce_scatter_algorithms();

// In place: the result is chunk `rank` of data; the other chunks are left in an unstated state.
void reduce_scatter(Comm& comm, Buffer data, ReduceOp op = ReduceOp::sum, Choice choice = {"ring"});

// Out of place: `data` stays as it is, `mine` has the size of chunk `rank`.
void reduce_scatter(Comm& comm, Buffer data, Buffer mine, ReduceOp op = ReduceOp::sum,
                    Choice choice = {"ring"});

// In place, launched on the group's stream: `data` is in flight until wait().
[[nodiscard]] Work reduce_scatter_async(Comm& comm, const Tensor& data, ReduceOp op = ReduceOp::sum,
                                        Choice choice = {"ring"});

}  // namespace ringside
