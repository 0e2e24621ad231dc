#include "scenarios/true_scale.hpp"

#include "models/meta_layer.hpp"
#include "parallel/batch_share.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/data_parallel_step.hpp"
#include "parallel/mesh.hpp"
#include "parallel/tensor_parallel.hpp"
#include "parallel/zero.hpp"
#include "scenarios/block_activations_watch.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

// The samples of a rank's micro-batch, as one row of tokens.
Microbatches tokens_of(const Settings& s, const Comm& group) {
  const BatchShare share{group.rank(), group.size(), s.parallel.microbatches};
  return [&s, share](int /*step*/, int index) {
    const auto part = samples_of(static_cast<std::uint64_t>(s.train.batch), share, index);
    return meta_batch(part.count * static_cast<std::size_t>(s.model.sequence));
  };
}

class TrueScale {
 public:
  TrueScale(Rank& rank, const Settings& settings, const PublishedModel& published, Fault fault)
      : rank_(rank),
        settings_(settings),
        fault_(fault),
        host_(1 << 20, Backing::meta),
        mesh_(mesh_of(settings, rank.id())),
        tp_group_(rank, "tp", mesh_.members({Axis::tp})),
        tp_(tp_group_, rank.memory(), published, tensor_options(settings, fault)),
        model_(make_meta_model({rank.memory(), rank.clock()}, published, DType::bf16, tp_.cut(),
                               tp_.seam(), settings.parallel.zero > 0 ? &host_ : nullptr,
                               recompute_of(settings))),
        group_(rank, "dp", mesh_.members(gradient_axes())) {}

  std::vector<StepOutcome> with_data_parallelism() {
    const auto parameters = flatten(model_->layers());
    DataParallelOptions options = dp_options(settings_, fault_);
    options.complete = [this](std::size_t layer) { complete(layer); };
    DataParallel dp(group_, rank_.memory(), model_->layers(), options);
    const auto optimizer = make_optimizer(optimizer_of(settings_), rank_.memory(), parameters);
    dp.broadcast_weights();
    return steps(
        dp, *optimizer, [] {},
        [&] {
          if (settings_.parallel.tp > 1) {
            tp_.sum_of_squares(parameters);
          }
        });
  }

  std::vector<StepOutcome> with_zero() {
    ZeroOptions options = zero_options(settings_, fault_);
    if (settings_.parallel.tp > 1) {
      options.complete = [this](std::size_t layer) { complete(layer); };
      options.counts = [this](const Parameter& part) {
        return tp_.counts_here(part.piece->layout);
      };
      options.add_parts = [this](double squares) { return tp_.sum(squares); };
    }
    Zero zero(group_, rank_.memory(), *model_, options);
    const auto optimizer =
        make_optimizer(optimizer_of(settings_), rank_.memory(), zero.parameters());
    return steps(
        zero, *optimizer, [&] { zero.end_update(); }, [&] { zero.gradient_norm(); });
  }

 private:
  // The vision tower, which text does not pass, has no gradient that could be in parts.
  void complete(std::size_t layer) {
    if (model_->layer(layer).name() != "vision") {
      tp_.sum_partial_gradients(model_->layers()[layer]);
    }
  }

  template <class After, class Before>
  std::vector<StepOutcome> steps(GradientReduction& reduction, Optimizer& optimizer, After after,
                                 Before before) {
    DataParallelStep step(group_, reduction, *model_, tokens_of(settings_, group_),
                          settings_.parallel.microbatches);
    BlockActivationsWatch watch(rank_, *model_);
    step.watch(watch);
    std::vector<StepOutcome> outcomes;
    for (int s = 0; s < settings_.train.steps; ++s) {
      step(s);
      before();
      optimizer.step();
      after();
      StepOutcome outcome;
      outcome.memory = rank_.memory().ledger().current;
      outcome.kept_of_blocks = watch.kept();
      outcome.in_flight_of_blocks = watch.in_flight();
      outcome.start = step.times().start;
      outcome.forward_end = step.times().forward_end;
      outcome.backward_end = step.times().backward_end;
      outcome.gradients_ready = step.times().gradients_ready;
      outcome.end = rank_.now();
      outcomes.push_back(outcome);
    }
    return outcomes;
  }

  Rank& rank_;
  const Settings& settings_;
  Fault fault_;
  DeviceMemory host_;
  Mesh mesh_;
  Comm tp_group_;
  TensorParallel tp_;
  std::unique_ptr<Model> model_;
  Comm group_;
};

}  // namespace

std::vector<StepOutcome> train_rank_at_true_scale(Rank& rank, const Settings& settings,
                                                  const PublishedModel& model, Fault fault) {
  TrueScale training(rank, settings, model, fault);
  return settings.parallel.zero > 0 ? training.with_zero() : training.with_data_parallelism();
}

}  // namespace ringside
