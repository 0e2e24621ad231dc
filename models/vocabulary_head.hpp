// logits = x W^T: a row of W for each token of the vocabulary. No bias.
#pragma once

#include <memory>
#include <optional>

#include "models/layer.hpp"
#include "models/seam.hpp"

namespace ringside {

// W may be the embedding's table (tied; Press and Wolf 2017), which is then listed there, not here.
template <class T>
class VocabularyHead : public Layer {
 public:
  // `weight`: [vocab, hidden], cut along its rows or whole.
  VocabularyHead(Device device, std::string name, Parameter weight, std::shared_ptr<Seam> seam);
  // `tied` outlives the head.
  VocabularyHead(Device device, std::string name, Parameter* tied, std::shared_ptr<Seam> seam);

  const std::string& name() const override { return name_; }

  Tensor forward(const Tensor& in, Saved& saved) override;
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  std::vector<Parameter*> parameters() override;
  std::vector<Parameter*> borrowed() override;

 private:
  Tensor make(std::size_t rows, std::size_t cols, const char* what) const;
  void charge(std::size_t rows, const char* what) const;

  Parameter& weight() { return own_ ? *own_ : *tied_; }

  const Parameter& weight() const { return own_ ? *own_ : *tied_; }

  Device device_;
  std::string name_;
  std::optional<Parameter> own_;
  Parameter* tied_ = nullptr;
  std::shared_ptr<Seam> seam_;
};

}  // namespace ringside
