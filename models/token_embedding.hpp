// The last k tokens, each looked up in a table, side by side: [tokens, k] -> [tokens, k * e].
#pragma once

#include <cstdint>

#include "models/layer.hpp"

namespace ringside {

template <class T>
class TokenEmbedding : public Layer {
 public:
  // One parameter, "<name>.weight" [vocab, e], uniform within `scale`.
  TokenEmbedding(Device device, std::string name, std::size_t vocab, std::size_t width,
                 double scale, std::uint64_t seed);

  const std::string& name() const override { return name_; }

  // `contexts`: i32. Throws BadUse for a token outside the vocabulary.
  Tensor forward(const Tensor& contexts, Saved& saved) override;
  // Tokens are not differentiable: the result is empty.
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  std::vector<Parameter*> parameters() override { return {&table_}; }

 private:
  void require_rows(const Tensor& contexts) const;

  Device device_;
  std::string name_;
  std::size_t width_;
  Parameter table_;  // [vocab, e]
};

}  // namespace ringside
