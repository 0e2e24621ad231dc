#include "scenarios/true_scale.hpp"

#include "collectives/chunk.hpp"
#include "models/meta_layer.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/data_parallel_step.hpp"
#include "parallel/zero.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

// The samples of a rank's micro-batch, as one row of tokens.
Microbatches tokens_of(const Settings& s, const Comm& group) {
  const Chunk mine = chunk_of(static_cast<std::size_t>(s.train.batch), group.size(), group.rank());
  return [&s, mine](int /*step*/, int index) {
    const Chunk part = chunk_of(mine.count, s.parallel.microbatches, index);
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
        model_(make_meta_model({rank.memory(), rank.clock()}, published, DType::bf16, Cut{},
                               std::make_shared<Seam>(),
                               settings.parallel.zero > 0 ? &host_ : nullptr)),
        group_(rank, "dp", everyone(rank)) {}

  std::vector<StepOutcome> with_data_parallelism() {
    DataParallel dp(group_, rank_.memory(), model_->layers(), dp_options(settings_, fault_));
    const auto optimizer =
        make_optimizer(optimizer_of(settings_), rank_.memory(), flatten(model_->layers()));
    dp.broadcast_weights();
    return steps(dp, *optimizer, [] {});
  }

  std::vector<StepOutcome> with_zero() {
    Zero zero(group_, rank_.memory(), *model_, zero_options(settings_, fault_));
    const auto optimizer =
        make_optimizer(optimizer_of(settings_), rank_.memory(), zero.parameters());
    return steps(
        zero, *optimizer, [&] { zero.end_update(); }, [&] { zero.gradient_norm(); });
  }

 private:
  template <class After, class Before = void (*)()>
  std::vector<StepOutcome> steps(
      GradientReduction& reduction, Optimizer& optimizer, After after, Before before = [] {}) {
    DataParallelStep step(group_, reduction, *model_, tokens_of(settings_, group_),
                          settings_.parallel.microbatches);
    std::vector<StepOutcome> outcomes;
    for (int s = 0; s < settings_.train.steps; ++s) {
      step(s);
      before();
      optimizer.step();
      after();
      StepOutcome outcome;
      outcome.memory = rank_.memory().ledger().current;
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
