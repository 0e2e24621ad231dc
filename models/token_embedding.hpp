// The last k tokens, each looked up in a table, side by side: [tokens, k] -> [tokens, k * e].
#pragma once

#include <cstdint>
#include <memory>

#include "models/layer.hpp"
#include "models/seam.hpp"

namespace ringside {

// The table may be a part of the vocabulary's rows: what the ranks look up is then summed by the
// seam (Megatron-LM, section 3: vocabulary-parallel embedding).
template <class T>
class TokenEmbedding : public Layer {
 public:
  // `table`: [vocab, e], cut along its rows or whole. `tied`: another layer has added its gradient
  // before; this one's is then summed apart and added to it, so that the result is the sum of two
  // sums.
  TokenEmbedding(Device device, std::string name, Parameter table, bool tied = false,
                 std::shared_ptr<Seam> seam = std::make_shared<Seam>());

  const std::string& name() const override { return name_; }

  // `contexts`: i32. Throws BadUse for a token outside the whole vocabulary.
  Tensor forward(const Tensor& contexts, Saved& saved) override;
  // Tokens are not differentiable: the result is empty.
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  std::vector<Parameter*> parameters() override { return {&table_}; }

 private:
  void require_in_vocabulary(std::int32_t token) const;
  void look_up(const Tensor& contexts, const Tensor& out) const;
  void add_gradient(const Saved& saved);
  void add_rows(const Saved& saved, std::span<T> grad) const;

  Device device_;
  std::string name_;
  std::size_t width_;
  Parameter table_;
  bool tied_;
  std::shared_ptr<Seam> seam_;
};

}  // namespace ringside
