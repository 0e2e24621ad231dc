#include "models/gelu_mlp.hpp"

#include <algorithm>

#include "models/elementary.hpp"
#include "models/matrix.hpp"
#include "models/random.hpp"

namespace ringside {

namespace {

Tensor made(DeviceMemory& memory, std::size_t rows, std::size_t cols, const std::string& name) {
  return {memory, DType::f64, {rows, cols}, Category::activations, name};
}

void fill(std::span<double> elements, std::uint64_t first) {
  for (double& element : elements) {
    element = uniform(mix(first++));
  }
}

}  // namespace

double gelu(double z) {
  constexpr double root_of_2_over_pi = 0.79788456080286535588;
  return z / 2 * (1 + hyperbolic_tangent(root_of_2_over_pi * (z + 0.044715 * z * z * z)));
}

GeluMlp make_gelu_mlp(DeviceMemory& memory, std::uint64_t seed) {
  constexpr std::size_t width = 4;
  constexpr std::size_t ffn = 8;
  GeluMlp mlp{made(memory, bench_tokens.size(), width, "x"), made(memory, width, ffn, "A"),
              made(memory, ffn, width, "B")};
  for (std::size_t t = 0; t < bench_tokens.size(); ++t) {
    fill(mlp.x.as<double>().subspan(t * width, width), mix(seed, bench_tokens[t]));
  }
  fill(mlp.a.as<double>(), mix(seed, "A"));
  fill(mlp.b.as<double>(), mix(seed, "B"));
  return mlp;
}

Tensor product(DeviceMemory& memory, const Tensor& x, const Tensor& a, const std::string& name) {
  pin_matrix_products();
  Tensor z = made(memory, x.shape().front(), a.shape().back(), name);
  matrix<double>(z).noalias() = matrix<double>(x) * matrix<double>(a);
  return z;
}

Tensor gelu(DeviceMemory& memory, const Tensor& z) {
  Tensor h = made(memory, z.shape().front(), z.shape().back(), "gelu(" + z.name() + ")");
  std::ranges::transform(z.as<double>(), h.as<double>().begin(),
                         [](double element) { return gelu(element); });
  return h;
}

Tensor run_alone(DeviceMemory& memory, const GeluMlp& mlp) {
  return product(memory, gelu(memory, product(memory, mlp.x, mlp.a, "x A")), mlp.b, "y");
}

}  // namespace ringside
