#include "parallel/tensor_parallel.hpp"

#include "collectives/all_reduce.hpp"
#include "models/gradient_norm.hpp"
#include "models/published_cut.hpp"

namespace ringside {

TensorParallel::TensorParallel(Comm& group, DeviceMemory& memory, const GptConfig& config,
                               TensorParallelOptions options)
    : group_(group), options_(std::move(options)) {
  const GptShare share = share_of(config, cut());
  seam_ = make_tensor_seam(group, memory, options_, share.vocab.count - share.real);
  make_holders(share.kv_copies);
}

TensorParallel::TensorParallel(Comm& group, DeviceMemory& memory, const PublishedModel& model,
                               TensorParallelOptions options)
    : group_(group), options_(std::move(options)) {
  seam_ = make_tensor_seam(group, memory, options_);
  for (const PublishedLayer& layer : model.layers) {
    for (const PublishedTensor& tensor : layer.tensors) {
      const Layout layout = share_of(tensor, cut(), layer.kind).layout;
      make_holders(layout.partial_gradient ? layout.copies : 1);
    }
  }
}

void TensorParallel::make_holders(int copies) {
  if (copies == 1 || holders_.contains(copies)) {
    return;
  }
  std::vector<int> members;
  const int first = group_.rank() / copies * copies;
  for (int r = first; r < first + copies; ++r) {
    members.push_back(group_.world_rank(r));
  }
  holders_[copies] = std::make_unique<Comm>(group_.owner(), group_.name() + ".kv", members);
}

bool TensorParallel::in_parts(const Parameter& parameter) const {
  const Layout& layout = parameter.layout;
  return layout.copies > 1 &&
         (layout.partial_gradient || (options_.sequence && layout.dimension < 0));
}

Comm& TensorParallel::holders(const Parameter& parameter) {
  const Layout& layout = parameter.layout;
  return layout.dimension < 0 ? group_ : *holders_.at(layout.copies);
}

void TensorParallel::sum_partial_gradients(const std::vector<Parameter*>& parameters) {
  for (const Parameter* parameter : parameters) {
    if (parameter->trainable && in_parts(*parameter) &&
        options_.fault != Fault::replicated_gradient_not_summed) {
      all_reduce(holders(*parameter), parameter->grad.buffer(), ReduceOp::sum,
                 {options_.all_reduce, "grad." + parameter->name});
    }
  }
}

bool TensorParallel::counts_here(const Layout& layout) const {
  return group_.rank() % layout.copies == 0 || options_.fault == Fault::norm_counted_per_rank;
}

double TensorParallel::sum_of_squares(const std::vector<Parameter*>& parameters) {
  std::vector<Parameter*> own;
  for (Parameter* parameter : parameters) {
    if (counts_here(parameter->layout)) {
      own.push_back(parameter);
    }
  }
  return sum(ringside::sum_of_squares(own));
}

double TensorParallel::sum(double squares) {
  all_reduce(group_, buffer_of(std::span(&squares, 1)), ReduceOp::sum,
             {options_.all_reduce, "gradient_norm"});
  return squares;
}

}  // namespace ringside
