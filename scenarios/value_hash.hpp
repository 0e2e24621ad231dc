// Hashes of values, by which ranks compare bits without sending them.
#pragma once

#include <cstdint>
#include <vector>

namespace ringside {

// Goes on from `h`.
std::uint64_t hash(std::uint64_t h, const std::vector<double>& elements);

std::uint64_t hash(const std::vector<std::vector<double>>& tensors);

}  // namespace ringside
