// A named parameter: its value and the gradient of the loss.
#pragma once

#include <string>

#include "runtime/tensor.hpp"

namespace ringside {

// Both tensors may be replaced from outside by others of the same shape and type, such as views
// into a bucket: who computes with them asks for them anew each time.
struct Parameter {
  std::string name;  // "hidden.0.weight"
  Tensor value;
  Tensor grad;
};

}  // namespace ringside
