#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

#include "parallel/full_state.hpp"

namespace ringside {

namespace {

template <class T>
std::vector<double> elements(const HostTensor& tensor) {
  std::vector<double> values;
  for (std::size_t at = 0; at < tensor.bytes.size(); at += sizeof(T)) {
    T element{};
    std::memcpy(&element, tensor.bytes.data() + at, sizeof element);
    if constexpr (std::is_same_v<T, Bf16> || std::is_same_v<T, F16>) {
      values.push_back(static_cast<double>(static_cast<float>(element)));
    } else {
      values.push_back(static_cast<double>(element));
    }
  }
  return values;
}

// None: not of a floating-point type.
std::optional<std::vector<double>> values(const HostTensor& tensor) {
  switch (tensor.dtype) {
    case DType::f32:
      return elements<float>(tensor);
    case DType::f64:
      return elements<double>(tensor);
    case DType::bf16:
      return elements<Bf16>(tensor);
    case DType::f16:
      return elements<F16>(tensor);
    default:
      return std::nullopt;
  }
}

bool finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

}  // namespace

StateDifference difference(const NamedTensors& first, const NamedTensors& second) {
  StateDifference found;
  TensorValues a;
  TensorValues b;
  DType widest = DType::f32;
  for (const auto& [name, tensor] : first) {
    const auto other = second.find(name);
    if (other == second.end()) {
      found.only_in_first.push_back(name);
    } else if (tensor.dtype != other->second.dtype || tensor.shape != other->second.shape) {
      found.of_other_shape.push_back(name);
    } else {
      if (tensor.bytes != other->second.bytes) {
        found.of_other_bits.push_back(name);
      }
      if (const auto numbers = values(tensor)) {
        a.push_back(*numbers);
        b.push_back(*values(other->second));
        if (!finite(a.back()) || !finite(b.back())) {
          found.not_finite.push_back(name);
        }
        widest = tensor.dtype == DType::f64 ? DType::f64 : widest;
      }
    }
  }
  for (const auto& [name, tensor] : second) {
    if (!first.contains(name)) {
      found.only_in_second.push_back(name);
    }
  }
  found.deviation = deviation(a, b, widest);
  return found;
}

}  // namespace ringside
