#include "parallel/tensor_seam.hpp"

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/reduce_scatter.hpp"
#include "models/elementary.hpp"

namespace ringside {

namespace {

class TensorSeam : public Seam {
 public:
  TensorSeam(Comm& group, DeviceMemory& memory, TensorParallelOptions options, std::size_t padding)
      : group_(group), memory_(memory), options_(std::move(options)), padding_(padding) {}

  Tensor enter_backward(Tensor partial_grad, std::string_view label) override {
    return sum(std::move(partial_grad), label);
  }

  Tensor leave(Tensor partial, std::string_view label) override {
    return options_.fault == Fault::leave_not_reduced ? partial : sum(std::move(partial), label);
  }

  void largest_over_vocabulary(const Tensor& values, std::string_view label) override {
    all_reduce(group_, values.buffer(), ReduceOp::max, {options_.all_reduce, label});
    largest_ = values;
  }

  void sum_over_vocabulary(const Tensor& values, std::string_view label) override {
    if (options_.fault == Fault::padding_counted) {
      count_padding(values);
    }
    all_reduce(group_, values.buffer(), ReduceOp::sum, {options_.all_reduce, label});
    largest_ = Tensor();
  }

 protected:
  Tensor sum(Tensor partial, std::string_view label) {
    all_reduce(group_, partial.buffer(), ReduceOp::sum, {options_.all_reduce, label});
    return partial;
  }

  Tensor make(const Tensor& like, std::size_t rows, std::string_view label, const char* what) {
    return {memory_,
            like.dtype(),
            {rows, like.shape().back()},
            Category::activations,
            std::string(label) + what};
  }

  Comm& group_;
  DeviceMemory& memory_;
  TensorParallelOptions options_;

 private:
  // A row of padding has the logit 0.
  void count_padding(const Tensor& sums) const {
    const auto largest = largest_.as<double>();
    const auto total = sums.as<double>();
    for (std::size_t t = 0; t < largest.size(); ++t) {
      total[t] += static_cast<double>(padding_) * exponential(-largest[t]);
    }
  }

  std::size_t padding_;
  Tensor largest_;
};

class SequenceSeam : public TensorSeam {
 public:
  using TensorSeam::TensorSeam;

  Tensor enter(Tensor x, std::size_t tokens, std::string_view label) override {
    return gather(x, tokens, label);
  }

  Tensor enter_backward(Tensor partial_grad, std::string_view label) override {
    return scatter(partial_grad, label, true);
  }

  Tensor leave(Tensor partial, std::string_view label) override {
    return scatter(partial, label, options_.fault != Fault::leave_not_reduced);
  }

  Tensor leave_backward(Tensor grad, std::size_t tokens, std::string_view label) override {
    return gather(grad, tokens, label);
  }

 private:
  // Every rank's rows become the micro-batch's.
  Tensor gather(const Tensor& mine, std::size_t tokens, std::string_view label) {
    const std::size_t ranks = static_cast<std::size_t>(group_.size());
    const Tensor all = make(mine, ranks * mine.shape().front(), label, ".gathered");
    all_gather(group_, mine.buffer(), all.buffer(), {options_.all_gather, label});
    return all.view(0, {tokens, mine.shape().back()}, all.name());
  }

  Tensor scatter(const Tensor& partial, std::string_view label, bool summed) {
    const auto ranks = static_cast<std::size_t>(group_.size());
    const std::size_t tokens = partial.shape().front();
    const std::size_t rows = (tokens + ranks - 1) / ranks;
    Tensor mine = make(partial, rows, label, ".scattered");
    Tensor whole = partial;
    if (rows * ranks != tokens) {
      whole = make(partial, rows * ranks, label, ".padded");
      group_.copy(partial.buffer(), whole.buffer().slice(0, partial.count()));
    }
    if (summed) {
      reduce_scatter(group_, whole.buffer(), mine.buffer(), ReduceOp::sum,
                     {options_.reduce_scatter, label});
    } else {
      const auto first = static_cast<std::size_t>(group_.rank()) * mine.count();
      group_.copy(whole.buffer().slice(first, mine.count()), mine.buffer());
    }
    return mine;
  }
};

}  // namespace

std::shared_ptr<Seam> make_tensor_seam(Comm& group, DeviceMemory& memory,
                                       const TensorParallelOptions& options, std::size_t padding) {
  if (options.sequence) {
    return std::make_shared<SequenceSeam>(group, memory, options, padding);
  }
  return std::make_shared<TensorSeam>(group, memory, options, padding);
}

}  // namespace ringside
