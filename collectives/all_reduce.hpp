// All-reduce: every rank ends with the reduction of all ranks' buffers, the same bits everywhere.
#pragma once

#include "collectives/algorithm.hpp"
#include "runtime/tensor.hpp"

namespace ringside {

using AllReduce = Algorithm<void(Comm&, Buffer data, ReduceOp)>;
std::span<const AllReduce> all_reduce_algorithms();

// In place. avg divides the sum by the size of the group.
void all_reduce(Comm& comm, Buffer data, ReduceOp op = ReduceOp::sum, Choice choice = {"ring"});

// The same with an algorithm that need not be in the table.
void all_reduce(Comm& comm, const AllReduce& algorithm, Buffer data, ReduceOp op,
                std::string_view label = {});

// Launched on the group's stream: `data` is in flight until wait().
[[nodiscard]] Work all_reduce_async(Comm& comm, const Tensor& data, ReduceOp op = ReduceOp::sum,
                                    Choice choice = {"ring"});
[[nodiscard]] Work all_reduce_async(Comm& comm, const AllReduce& algorithm, const Tensor& data,
                                    ReduceOp op, std::string_view label = {});

}  // namespace ringside
