// All-gather: every rank ends with all ranks' chunks, in rank order (chunk.hpp).
#pragma once

#include "collectives/algorithm.hpp"
#include "runtime/tensor.hpp"

namespace ringside {

using AllGather = Algorithm<void(Comm&, Buffer data)>;
std::span<const AllGather> all_gather_algorithms();

// In place: this rank's part is chunk `rank` of data, at its place.
void all_gather(Comm& comm, Buffer data, Choice choice = {"ring"});

// Out of place: `mine` has the size of chunk `rank` of `all`.
void all_gather(Comm& comm, Buffer mine, Buffer all, Choice choice = {"ring"});

// In place, launched on the group's stream: `data` is in flight until wait().
[[nodiscard]] Work all_gather_async(Comm& comm, const Tensor& data, Choice choice = {"ring"});

}  // namespace ringside
