// A training under ZeRO in a rank, beside the records of another that has whole tensors.
#pragma once

#include "parallel/sharded_record.hpp"
#include "parallel/zero.hpp"
#include "tests/parallel/small_training.hpp"

namespace ringside {

inline std::vector<std::size_t> tensors_of(Model& model) {
  std::vector<std::size_t> tensors;
  for (const auto& layer : model.layers()) {
    tensors.push_back(layer.size());
  }
  return tensors;
}

// Every step of a rank under data parallelism.
inline std::vector<StepRecord> dp_records(Rank& rank, const TrainingPlan& plan,
                                          const DataParallelOptions& options, int microbatches) {
  std::vector<StepRecord> records;
  train_rank(rank, plan, options, microbatches, {},
             [&](int, const StepRecord& record) { records.push_back(record); });
  return records;
}

// The worst of all steps; plain, so that it travels.
struct ZeroSeen {
  bool gradient_bits = true;
  bool parameter_bits = true;  // of the shards, and in stages 1 and 2 of all
  double gradient = 0;         // max |difference|
  double parameter = 0;
  double norm = 0;  // relative difference
  double loss = 0;
};

inline void see(ZeroSeen& seen, const StepRecord& truth, const StepRecord& record, DType dtype) {
  const Deviation gradients = deviation(truth.gradients, record.gradients, dtype);
  const Deviation parameters = deviation(truth.parameters, record.parameters, dtype);
  seen.gradient_bits &= gradients.bit_equal;
  seen.parameter_bits &= parameters.bit_equal;
  seen.gradient = std::max(seen.gradient, gradients.absolute);
  seen.parameter = std::max(seen.parameter, parameters.absolute);
  seen.norm = std::max(seen.norm, relative(truth.gradient_norm, record.gradient_norm));
  seen.loss = std::max(seen.loss, relative(truth.loss, record.loss));
}

inline ZeroSeen zero_beside(Rank& rank, const TrainingPlan& plan, const ZeroOptions& options,
                            int microbatches, const std::vector<StepRecord>& truth) {
  const auto model = make_model({rank.memory(), rank.clock()}, plan.model,
                                plan.data.seed + static_cast<std::uint64_t>(rank.id()));
  Zero zero(rank.world(), rank.memory(), *model, options);
  const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), zero.parameters());
  DataParallelStep step(rank.world(), zero, *model, plan, microbatches);
  ZeroSeen seen;
  train(plan, zero.parameters(), *optimizer, std::ref(step),
        [&](int s, StepRecord record) {
          zero.end_update();
          const StepRecord& other = truth[static_cast<std::size_t>(s)];
          StepRecord whole = whole_tensors(record, zero.pieces(), tensors_of(*model), other);
          if (options.stage < 3) {
            whole.parameters.clear();
            for (const Parameter* p : flatten(model->layers())) {
              with_elements(p->value, [&](auto elements) {
                whole.parameters.emplace_back(elements.begin(), elements.end());
              });
            }
          }
          see(seen, other, whole, dtype_of(plan.model));
        },
        {.norm = [&] { return zero.gradient_norm(); }});
  return seen;
}

}  // namespace ringside
