// What is done around the layers of a model by those who stand outside it: data parallelism
// launches buckets, ZeRO-3 gathers parameters and frees them.
#pragma once

#include <cstddef>

namespace ringside {

// `layer` counts in forward order. Backward is the input gradient and then the weight gradient, at
// once or, in some pipelines, with other things between them.
struct LayerHooks {
  virtual ~LayerHooks() = default;

  virtual void before_forward(std::size_t /*layer*/) {}

  virtual void after_forward(std::size_t /*layer*/) {}

  virtual void before_backward(std::size_t /*layer*/) {}

  virtual void before_weight_gradient(std::size_t /*layer*/) {}

  // This micro-batch has added all that it adds to the layer's gradients.
  virtual void after_backward(std::size_t /*layer*/) {}
};

}  // namespace ringside
