// The last k bytes, each looked up in a table, side by side: [tokens, k] -> [tokens, k * e].
#pragma once

#include <cstdint>

#include "models/layer.hpp"

namespace ringside {

template <class T>
class ByteEmbedding : public Layer {
 public:
  // One parameter, "<name>.weight" [vocab, e], uniform within 1. Throws BadUse unless there is a
  // row for every byte.
  ByteEmbedding(Device device, std::string name, std::size_t vocab, std::size_t width,
                std::uint64_t seed);

  const std::string& name() const override { return name_; }

  // `contexts`: u8.
  Tensor forward(const Tensor& contexts, Saved& saved) override;
  // Bytes are not differentiable: the result is empty.
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  std::vector<Parameter*> parameters() override { return {&table_}; }

 private:
  Device device_;
  std::string name_;
  std::size_t width_;
  Parameter table_;  // [vocab, e]
};

}  // namespace ringside
