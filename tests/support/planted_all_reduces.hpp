// Twenty wrong copies of the all-reduce algorithms, of the kinds that students and engineers write.
#pragma once

#include <span>

#include "collectives/all_reduce.hpp"

namespace ringside {

// Their names say what is wrong: "ring_reduce_chunk_off_by_one".
std::span<const AllReduce> planted_all_reduces();

}  // namespace ringside
