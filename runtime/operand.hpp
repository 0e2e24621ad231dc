// What an operation is called on: memory, and the shape in which all members must hold it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "runtime/buffer.hpp"
#include "runtime/tensor.hpp"

namespace ringside {

// For the time of a call: a tensor in its shape, or a buffer, whose shape is its count.
class Operand {
 public:
  Operand(Buffer data) : data_(data) {}  // NOLINT(google-explicit-constructor): a shape is added

  Operand(const Tensor& data)  // NOLINT(google-explicit-constructor)
      : data_(data.buffer()), shape_(data.shape()) {}

  Buffer buffer() const { return data_; }

  std::span<const std::size_t> shape() const {
    return shape_.empty() ? std::span(&data_.count, 1) : shape_;
  }

 private:
  Buffer data_;
  std::span<const std::size_t> shape_{};
};

// What an operation's data is, in which the members must agree. No shape: none is compared, because
// members may hold different ones.
struct Subject {
  std::string_view label{};
  std::span<const std::size_t> shape{};
};

}  // namespace ringside
