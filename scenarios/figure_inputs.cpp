#include "scenarios/figure_inputs.hpp"

namespace ringside {

double FigureInputs::body() const {
  std::size_t sum = 0;
  for (const PublishedLayer& layer : anchor.layers) {
    const bool of_text = layer.name.starts_with("layers.") || layer.name == "final_norm";
    sum += of_text ? layer.parameters() : 0;
  }
  return static_cast<double>(sum);
}

}  // namespace ringside
