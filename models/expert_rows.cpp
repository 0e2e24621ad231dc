#include "models/expert_rows.hpp"

#include <algorithm>

#include "models/tensor_elements.hpp"

namespace ringside {

std::vector<std::size_t> choices_by_expert(const Routing& routing,
                                           std::span<const std::size_t> order,
                                           std::size_t experts) {
  std::vector<std::vector<std::size_t>> of_expert(experts);
  for (std::size_t c = 0; c < routing.experts.size(); ++c) {
    if (routing.experts[c] >= 0) {
      of_expert[static_cast<std::size_t>(routing.experts[c])].push_back(c);
    }
  }
  std::vector<std::size_t> choices;
  for (const std::size_t e : order) {
    choices.insert(choices.end(), of_expert[e].begin(), of_expert[e].end());
  }
  return choices;
}

Tensor take_rows(DeviceMemory& memory, const Tensor& from, std::span<const std::size_t> rows) {
  const std::size_t width = from.shape().back();
  Tensor to(memory, from.dtype(), {rows.size(), width}, Category::activations,
            from.name() + ".copies");
  if (!to.meta() && to.count() > 0) {
    with_elements(from, [&](auto in) {
      const auto out = to.as<typename decltype(in)::value_type>();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        std::ranges::copy(in.subspan(rows[i] * width, width),
                          out.begin() + static_cast<std::ptrdiff_t>(i * width));
      }
    });
  }
  return to;
}

Tensor add_rows(DeviceMemory& memory, const Tensor& from, std::span<const std::size_t> rows,
                std::size_t count) {
  const std::size_t width = from.shape().back();
  Tensor to(memory, from.dtype(), {count, width}, Category::activations, from.name() + ".sums");
  if (!from.meta() && from.count() > 0) {
    with_elements(from, [&](auto in) {
      const auto out = to.as<typename decltype(in)::value_type>();
      for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t j = 0; j < width; ++j) {
          out[rows[i] * width + j] += in[i * width + j];
        }
      }
    });
  }
  return to;
}

}  // namespace ringside
