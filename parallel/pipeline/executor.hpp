// Runs a device's part of a pipeline schedule, as the gradient of the training loop
// (models/training.hpp).
//
// An action receives what it needs (blocking, by what it is, stage and micro-batch), computes, and
// sends with isend. The send of F(s, mb) is waited for at the B or I of the same; of gradient sends
// at most one is open for each peer and stage; the rest is waited for at the end of the step. So a
// schedule without a cycle of waits (validate.hpp) cannot deadlock, however little is buffered.
#pragma once

#include <map>
#include <optional>

#include "parallel/data_parallel_step.hpp"
#include "parallel/pipeline/schedule.hpp"
#include "parallel/pipeline/stage.hpp"

namespace ringside {

// Fixed durations in place of what layers charge: of one stage and micro-batch, when interleaved of
// all its chunks together. The compute clock's rate is then infinite.
struct StageCosts {
  Time forward{0};
  Time input_gradient{0};
  Time weight_gradient{0};
};

struct PipelineOptions {
  std::vector<std::size_t> layers;  // of each stage, of the whole model
  std::size_t width = 1;            // what travels between stages is [rows, width]
  DType dtype = DType::f32;
  std::size_t sequence_ranks = 1;  // over which rows are cut (sequence parallelism)
  std::optional<StageCosts> costs{};
  Fault fault = Fault::none;  // with blocking_sends 1f1b must deadlock
};

class PipelineStep {
 public:
  // `group`: the devices of the pipeline in order. `model`: this device's stages, in ascending
  // order. `schedule`, valid, `reduction` and the rest outlive it. `batches` gives every
  // micro-batch of a step to every stage.
  PipelineStep(Comm& group, const Schedule& schedule, GradientReduction& reduction, Model& model,
               Microbatches batches, PipelineOptions options);

  // Leaves the gradient of the global token sum where `reduction` puts it, of this device's
  // stages. The loss is that of the last stage, on the ranks that have it, and 0 on others.
  StepSum operator()(int step);

  const StepTimes& times() const { return times_; }

  // The most micro-batches of a stage that this device held at once, over all steps.
  int peak_in_flight() const { return peak_in_flight_; }

  // Called after each action.
  std::function<void(const Action&)> on_action{};

 private:
  struct Sent {
    Tensor tensor;
    Request request;
  };

  using Key = std::pair<int, int>;  // of stage and micro-batch, or of peer and stage

  void run(std::span<const Action> unit);
  void note_in_flight();
  Tensor receive(const Action& action);
  Tensor receive_from(int stage, ActionKind what, const Action& to);
  Tensor compute(const Action& action, Tensor in);
  Tensor forward(const Action& action, Tensor in, LayerHooks& hooks);
  void give(const Action& action, Tensor out);
  void send_on(int device, const Action& action, Tensor out);
  static void wait_for(std::map<Key, Sent>& sends, Key key);
  void charge(const Action& action) const;
  LayerHooks& hooks_for(const Action& action);
  bool loses(const Action& action) const;
  std::int64_t tag_of(ActionKind what, int stage, int microbatch) const;
  std::size_t rows_of(int microbatch) const;

  bool last(int stage) const { return stage + 1 == schedule_.stages; }

  const Batch& batch(int microbatch) const {
    return batches_now_[static_cast<std::size_t>(microbatch)];
  }

  Comm& group_;
  const Schedule& schedule_;
  GradientReduction& reduction_;
  Model& model_;
  Microbatches batches_;
  PipelineOptions options_;
  StagePlacement placement_;
  std::map<int, Stage> stages_;
  std::map<int, std::vector<int>> weight_order_;  // by stage
  std::vector<Batch> batches_now_;                // of this step, by micro-batch
  std::vector<std::shared_ptr<const Sequences>> sequences_;
  std::map<Key, Tensor> handed_over_;     // activations from a stage on this device, by receiver
  std::map<Key, Tensor> handed_back_;     // gradients
  std::map<Key, Sent> activations_sent_;  // by stage and micro-batch
  std::map<Key, Sent> gradients_sent_;    // by peer and stage
  double loss_ = 0;
  StepTimes times_;
  int peak_in_flight_ = 0;
};

}  // namespace ringside
