// y = (x - mean) / sqrt(var + eps) * gain + shift, with mean and variance of each column over the
// rows of the micro-batch (Ioffe and Szegedy 2015, algorithm 1): a token's result depends on all
// others.
#pragma once

#include "models/batch_sums.hpp"
#include "models/layer.hpp"

namespace ringside {

// The variance is that of the rows, not an estimate: the sum of squares over their number. Sums are
// in f64, row by row. There is no running mean: the layer is for training alone.
template <class T>
class BatchNorm : public Layer {
 public:
  // Parameters "<name>.weight" [width], ones, and "<name>.bias" [width], zeros.
  BatchNorm(Device device, std::string name, std::size_t width);

  const std::string& name() const override { return name_; }

  // [rows, width] -> [rows, width]
  Tensor forward(const Tensor& in, Saved& saved) override;
  Tensor backward_input(const Tensor& grad_out, Saved& saved) override;
  void backward_weight(Saved& saved) override;

  std::vector<Parameter*> parameters() override { return {&gain_, &shift_}; }

  // Statistics are then those of all ranks' rows: one sum of 2 width + 1 numbers forward and one of
  // 2 width backward, f64 each.
  void share_statistics(BatchSums& sums) override { sums_ = &sums; }

 private:
  Tensor make(std::vector<std::size_t> shape, DType dtype, const char* what) const;
  // [2 width + 1]: means, values of 1 / sqrt(var + eps), and of how many rows.
  void statistics_of(const Tensor& in, const Tensor& into);
  // [2 width]: sums over the rows of dy and of dy times the normalised x.
  void gradient_sums(const Saved& saved, const Tensor& grad_out, const Tensor& into) const;

  Device device_;
  std::string name_;
  Parameter gain_;
  Parameter shift_;
  BatchSums alone_;
  BatchSums* sums_ = &alone_;
};

}  // namespace ringside
