// Barrier: no rank leaves before every rank has come.
#pragma once

#include "collectives/algorithm.hpp"

namespace ringside {

using Barrier = Algorithm<void(Comm&)>;
std::span<const Barrier> barrier_algorithms();

void barrier(Comm& comm, Choice choice = {"dissemination"});

}  // namespace ringside
