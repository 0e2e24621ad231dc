// A named parameter: its value and the gradient of the loss.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "runtime/tensor.hpp"

namespace ringside {

// Which part of the whole parameter this rank has. By default all of it.
struct Layout {
  std::vector<std::size_t> whole{};  // shape of the parameter uncut, without padding
  int dimension = -1;                // along which it is cut; -1: it is not
  std::size_t first = 0;  // row or column of the whole at which this part begins; rows and columns
                          // past the whole are padding: zero, and their gradient is zero
  int copies = 1;         // ranks of the group that have this very part
  bool partial_gradient = false;  // a copy's gradient is only its rank's part of the sum
};

// Elements of a rank's part: those from `first`, in its order.
struct PieceOf {
  std::vector<std::size_t> shape{};  // of the part
  Layout layout{};                   // of the part
  std::size_t first = 0;
};

// Both tensors may be replaced from outside by others of the same shape and type, such as views
// into a bucket: who computes with them asks for them anew each time.
struct Parameter {
  std::string name;  // "hidden.0.weight"
  Tensor value;
  Tensor grad;
  Layout layout{};
  bool trainable = true;  // if not: no gradient (the tensor may be empty) and no optimizer state
  bool gain = false;      // of a norm: by default not decayed
  bool expert = false;    // of an expert of a mixture: other ranks may hold other experts
  bool copy = false;      // of a tied table that another stage of a pipeline has: the gradient is
                          // the sum of both, and counts there
  std::optional<PieceOf> piece{};  // this is a piece of a rank's part: `layout` says nothing
};

// Stops learning: the value keeps its bits from here on, and the gradient's memory is given back.
void freeze(Parameter& parameter);

// Learns again, with a gradient of 0 in `memory`.
void unfreeze(Parameter& parameter, DeviceMemory& memory);

// The parameters that learn, by layer; a layer of which all are frozen is empty.
std::vector<std::vector<Parameter*>> trainable(const std::vector<std::vector<Parameter*>>& layers);

// Rows or columns of this part, along the dimension in which it is cut, that are no padding; of a
// parameter that is not cut, its first dimension.
std::size_t real_extent(const Parameter& parameter);

}  // namespace ringside
