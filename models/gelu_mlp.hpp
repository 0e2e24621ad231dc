// One MLP of two matrices, y = gelu(x A) B, in f64: small enough to be looked at, and the truth for
// the ways of cutting it (parallel/mlp_split.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "models/layer.hpp"

namespace ringside {

// z (1 + tanh(sqrt(2 / pi) (z + 0.044715 z^3))) / 2 (Hendrycks and Gimpel 2016, section 2).
double gelu(double z);

// 小明把苹果给了小王, by words.
inline constexpr std::array<std::string_view, 5> bench_tokens{"小明", "把", "苹果", "给了", "小王"};

struct GeluMlp {
  Tensor x;  // [5, 4]: a row depends on its token and the seed alone
  Tensor a;  // [4, 8]
  Tensor b;  // [8, 4]
};

// Elements uniform in [-1, 1), by (seed, name, place).
GeluMlp make_gelu_mlp(DeviceMemory& memory, std::uint64_t seed);

// x A, of as many columns as `a` has.
Tensor product(DeviceMemory& memory, const Tensor& x, const Tensor& a, const std::string& name);

// gelu of every element.
Tensor gelu(DeviceMemory& memory, const Tensor& z);

// In one process.
Tensor run_alone(DeviceMemory& memory, const GeluMlp& mlp);

}  // namespace ringside
