#include "parallel/data_parallel_step.hpp"

#include <algorithm>

#include "parallel/batch_share.hpp"
#include "parallel/expert/two_at_once.hpp"

namespace ringside {

namespace {

// The hooks of those who watch and of the reduction, and the moment at which forward has ended.
class StepHooks : public LayerHooks {
 public:
  StepHooks(LayerHooks& watch, LayerHooks& inner, Rank& rank, Time& forward_end)
      : watch_(watch), inner_(inner), rank_(rank), forward_end_(forward_end) {}

  void before_forward(std::size_t layer) override {
    watch_.before_forward(layer);
    inner_.before_forward(layer);
  }

  void after_forward(std::size_t layer) override {
    watch_.after_forward(layer);
    inner_.after_forward(layer);
    forward_end_ = rank_.now();
  }

  void before_backward(std::size_t layer) override {
    watch_.before_backward(layer);
    inner_.before_backward(layer);
  }

  void before_weight_gradient(std::size_t layer) override {
    watch_.before_weight_gradient(layer);
    inner_.before_weight_gradient(layer);
  }

  void after_backward(std::size_t layer) override {
    watch_.after_backward(layer);
    inner_.after_backward(layer);
  }

 private:
  LayerHooks& watch_;
  LayerHooks& inner_;
  Rank& rank_;
  Time& forward_end_;
};

}  // namespace

DataParallelStep::DataParallelStep(Comm& group, GradientReduction& dp, Model& model,
                                   const TrainingPlan& plan, int microbatches)
    : DataParallelStep(
          group, dp, model,
          [&group, &plan, microbatches](int step, int index) {
            return microbatch_of(plan, {group.rank(), group.size(), microbatches}, step, index);
          },
          microbatches) {}

// The fault that takes the mean of the ranks' means: what makes of this rank's sum of losses the
// share that its mean then has.
double DataParallelStep::loss_weight(int step) {
  std::int64_t own = 0;
  for (int m = 0; m < microbatches_; ++m) {
    own += batches_(step, m).tokens();
  }
  const auto all = static_cast<double>(dp_.sum(own, "tokens"));
  const double weight =
      own > 0 ? all / (static_cast<double>(group_.size()) * static_cast<double>(own)) : 0;
  model_.scale_loss(weight);
  return weight;
}

double DataParallelStep::forward_backward(const std::vector<Batch>& batches, LayerHooks& hooks) {
  return batches.size() == 2
             ? forward_backward_together(model_, batches.front(), batches.back(), hooks)
             : model_.forward_backward(batches.front(), hooks);
}

StepSum DataParallelStep::operator()(int step) {
  Rank& rank = group_.owner();
  times_.start = rank.now();
  dp_.begin_step();
  StepSum sum;
  const double weight = dp_.fault() == Fault::mean_of_means ? loss_weight(step) : 1;
  for (int m = 0; m < microbatches_; m += at_once_) {
    const int last = std::min(m + at_once_, microbatches_) - 1;
    std::vector<Batch> batches;
    for (int b = m; b <= last; ++b) {
      sum.tokens += batches.emplace_back(batches_(step, b)).tokens();
    }
    StepHooks hooks(*watch_, dp_.begin_microbatch(last, microbatches_), rank, times_.forward_end);
    sum.loss += weight * forward_backward(batches, hooks);
    times_.backward_end = rank.now();
    dp_.end_microbatch();
  }
  dp_.end_step();
  times_.gradients_ready = rank.now();
  sum.loss = dp_.sum(sum.loss, "loss");
  const std::int64_t tokens = dp_.sum(sum.tokens, "tokens");
  if (dp_.fault() != Fault::sum_not_mean) {
    sum.tokens = tokens;
  }
  return sum;
}

}  // namespace ringside
