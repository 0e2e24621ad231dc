// Rotary positions (Su et al. 2021, RoFormer, section 3.4.2): pair i of a head is turned by
// position * base^(-2i / head_dim).
//
// Element i is paired with element i + head_dim / 2, as in Llama's and Qwen's published weights.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/tensor.hpp"

namespace ringside {

enum class Turn : std::uint8_t { forward, back };  // back is the input gradient

// In place, every head of [rows, heads * head_dim]. Angles are computed in f64. Of a meta tensor,
// nothing.
template <class T>
void rotate(const Tensor& x, std::size_t head_dim, std::span<const std::int32_t> positions,
            double base, Turn turn);

}  // namespace ringside
