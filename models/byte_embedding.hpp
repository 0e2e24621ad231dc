// The last k bytes, each looked up in a table, one after the other: [tokens, k] -> [tokens, k * e].
#pragma once

#include <cstdint>
#include <span>

#include "models/layer.hpp"

namespace ringside {

template <class T>
class ByteEmbedding {
 public:
  ByteEmbedding(Device device, std::size_t vocab, std::size_t width, std::uint64_t seed);

  // `contexts`: [tokens, context] bytes, which stay as they are until backward_weight.
  Tensor forward(std::span<const std::uint8_t> contexts, std::size_t context);
  // There is no input gradient: bytes are not differentiable.
  void backward_weight(const Tensor& grad_out);

  std::vector<Parameter*> parameters() { return {&table_}; }

 private:
  Device device_;
  std::size_t width_;
  Parameter table_;  // [vocab, e]
  std::span<const std::uint8_t> contexts_;
};

}  // namespace ringside
