#include "parallel/tensor_parallel.hpp"

#include "collectives/all_reduce.hpp"
#include "models/gradient_norm.hpp"

namespace ringside {

TensorParallel::TensorParallel(Comm& group, DeviceMemory& memory, const GptConfig& config,
                               TensorParallelOptions options)
    : group_(group), options_(std::move(options)) {
  const GptShare share = share_of(config, cut());
  seam_ = make_tensor_seam(group, memory, options_, share.vocab.count - share.real);
  if (share.kv_copies > 1) {
    std::vector<int> members;
    const int first = group.rank() / share.kv_copies * share.kv_copies;
    for (int r = first; r < first + share.kv_copies; ++r) {
      members.push_back(group.world_rank(r));
    }
    kv_group_ = std::make_unique<Comm>(group.owner(), group.name() + ".kv", members);
  }
}

bool TensorParallel::in_parts(const Parameter& parameter) const {
  const Layout& layout = parameter.layout;
  return layout.copies > 1 &&
         (layout.partial_gradient || (options_.sequence && layout.dimension < 0));
}

Comm& TensorParallel::holders(const Parameter& parameter) {
  return parameter.layout.dimension < 0 ? group_ : *kv_group_;
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

bool TensorParallel::counts_here(const Parameter& parameter) const {
  return group_.rank() % parameter.layout.copies == 0 ||
         options_.fault == Fault::norm_counted_per_rank;
}

double TensorParallel::sum_of_squares(const std::vector<Parameter*>& parameters) {
  std::vector<Parameter*> own;
  for (Parameter* parameter : parameters) {
    if (counts_here(*parameter)) {
      own.push_back(parameter);
    }
  }
  double squares = ringside::sum_of_squares(own);
  all_reduce(group_, buffer_of(std::span(&squares, 1)), ReduceOp::sum,
             {options_.all_reduce, "gradient_norm"});
  return squares;
}

}  // namespace ringside
