// A layer of a published model on meta memory: it has the parameters, sizes and costs of the real
// one, and computes nothing.
//
// Of a model that is cut over ranks it has a rank's part, sewn together as a GPT is (seam.hpp):
// between enter and leave in attention and MLP, around the vocabulary in embedding and head. What
// stands beside the text, vision and prediction, every rank has whole.
//
// Its matrix products are charged for forward, input gradient and weight gradient, twice the
// multiplications of PublishedTensor::products a token each: attention scores, states, convolutions
// and norms are free, as is the vision tower, which text does not pass. Of a micro-batch it saves
// its input, and for the weight gradient the gradient of its output.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/model.hpp"
#include "models/published_cut.hpp"
#include "models/published_model.hpp"
#include "models/recompute.hpp"
#include "models/seam.hpp"

namespace ringside {

class MetaLayer : public Layer {
 public:
  // Parameters of every trained tensor, made in `initial` (none: the device's memory): who cuts
  // them over ranks need never hold them whole. `in` and `out` are the widths of a token's row;
  // without a gradient of the input, `in` is what is looked up; of a head, `out` is this rank's
  // part. Throws BadUse on real device memory, naming the kind of layer, and what share_of does.
  MetaLayer(Device device, const PublishedLayer& layer, DType dtype, std::size_t in,
            std::size_t out, Cut cut = {}, std::shared_ptr<Seam> seam = std::make_shared<Seam>(),
            DeviceMemory* initial = nullptr);

  const std::string& name() const override { return name_; }

  // Throw BadUse when they are given real data.
  Tensor forward(const Tensor& in, Saved& saved) override;
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  std::vector<Parameter*> parameters() override;

  std::vector<Parameter*> borrowed() override { return borrowed_; }

  // A tied head computes with the table of `embedding`, which outlives it.
  void borrow(MetaLayer& embedding) { borrowed_ = embedding.parameters(); }

 private:
  void require_meta(bool meta) const;
  bool enters() const;  // its products take all tokens, and a part of the columns
  bool leaves() const;  // what it computes is a part of a sum
  Tensor make(std::size_t rows, std::size_t cols, const char* what) const;
  void charge(std::size_t rows, const char* what) const;

  Device device_;
  std::string name_;
  LayerKind kind_;
  DType dtype_;
  std::size_t in_;
  std::size_t out_;
  std::shared_ptr<Seam> seam_;
  std::size_t products_ = 0;  // multiplications a token
  std::vector<Parameter> parameters_;
  std::vector<Parameter*> borrowed_;
};

// A published model whose layers are all meta: embedding [tokens, 1] -> [tokens, hidden], …, head
// [tokens, hidden] -> [tokens, vocab], or a rank's part of it. The loss is 0, for there is none;
// its gradient is meta. `initial` outlives the model, and is as MetaLayer says. With full recompute
// attention and MLP of a block are one layer, "layers.3", which keeps its input alone. Throws
// BadUse for selective recompute: a meta layer saves no weights of attention.
std::unique_ptr<Model> make_meta_model(Device device, const PublishedModel& model, DType dtype,
                                       Cut cut = {},
                                       const std::shared_ptr<Seam>& seam = std::make_shared<Seam>(),
                                       DeviceMemory* initial = nullptr,
                                       Recompute recompute = Recompute::none);

// One sample of so many tokens, which say nothing.
Batch meta_batch(std::size_t tokens);

}  // namespace ringside
