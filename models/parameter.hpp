// A named parameter: its value and the gradient of the loss.
#pragma once

#include <string>

#include "runtime/tensor.hpp"

namespace ringside {

struct Parameter {
  std::string name;  // "hidden.0.weight"
  Tensor value;
  Tensor grad;  // may be a view into a bucket: parallel/ moves it there
};

}  // namespace ringside
