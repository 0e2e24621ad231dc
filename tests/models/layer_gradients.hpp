// Gradients of a layer against central differences, in f64.
#pragma once

#include <algorithm>
#include <vector>

#include "tests/models/single_device.hpp"

namespace ringside {

// Of samples of these lengths, one after the other.
class LayerRun {
 public:
  LayerRun(SingleDevice& d, Layer& layer, Tensor in, std::vector<std::size_t> lengths)
      : d_(d), layer_(layer), in_(std::move(in)), sequences_(make_sequences(std::move(lengths))) {
    const Tensor out = forward();
    grad_out_ = d_.tensor<double>(out.shape(), 1000);
  }

  Tensor forward() const {
    Saved saved{.sequences = sequences_};
    return layer_.forward(in_, saved);
  }

  // Of the output's product with fixed numbers.
  double worst_input_gradient() const {
    const auto grad = backward();
    return worst_difference(in_, grad);
  }

  // The worst parameter, each relative to the largest element of its gradient.
  double worst_weight_gradient() const {
    zero();
    backward();
    double worst = 0;
    for (const Parameter* p : layer_.parameters()) {
      worst = std::max(worst, worst_difference(p->value, copy_of<double>(p->grad)));
    }
    return worst;
  }

 private:
  void zero() const {
    for (const Parameter* p : layer_.parameters()) {
      std::ranges::fill(p->grad.as<double>(), 0);
    }
  }

  std::vector<double> backward() const {
    Saved saved{.sequences = sequences_};
    layer_.forward(in_, saved);
    const auto grad = copy_of<double>(layer_.backward_input(grad_out_, saved));
    layer_.backward_weight(saved);
    return grad;
  }

  double worst_difference(const Tensor& by, const std::vector<double>& grad) const {
    std::vector<double> slopes;
    for (double& element : by.as<double>()) {
      slopes.push_back(derivative(element, [&] { return dot(forward(), grad_out_); }));
    }
    return relative_difference(slopes, grad);
  }

  SingleDevice& d_;
  Layer& layer_;
  Tensor in_;
  std::shared_ptr<const Sequences> sequences_;
  Tensor grad_out_;
};

}  // namespace ringside
