// One rank of a training over any mesh: its part of the model, who reduces its gradients, and its
// steps. A product of dimensions is made here and nowhere else.
//
// The model is cut by tensor parallelism inside every stage of a pipeline; the batch is cut over
// the data-parallel ranks, by each of them into micro-batches, and their samples over the
// context-parallel ranks. Gradients, and with ZeRO what else it cuts, are reduced over the ranks
// that hold the same part: those of dp and cp, of which experts are spread over every ep.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/training.hpp"
#include "parallel/batch_statistics.hpp"
#include "parallel/context/context_parallel.hpp"
#include "parallel/data_parallel_step.hpp"
#include "parallel/expert/dense_and_experts.hpp"
#include "parallel/expert/mesh_experts.hpp"
#include "parallel/mesh.hpp"
#include "parallel/pipeline/executor.hpp"
#include "parallel/pipeline/parameter_copies.hpp"
#include "parallel/pipeline/stage_split.hpp"
#include "parallel/replicated.hpp"
#include "parallel/tensor_parallel.hpp"

namespace ringside {

struct PipelinePlan {
  Schedule schedule;  // valid (pipeline/validate.hpp)
  StageSplit split;
  std::optional<StageCosts> costs{};
  Fault fault = Fault::none;
};

struct MeshTrainingOptions {
  MeshShape shape{};
  int microbatches = 1;
  bool sync_batch_norm = false;  // statistics of a batch are those of all dp ranks
  ReplicatedOptions replicated{};
  TensorParallelOptions tensor{};          // of shape.tp above 1
  ContextParallelOptions context{};        // of shape.cp above 1
  std::optional<PipelinePlan> pipeline{};  // of shape.pp above 1, with as many devices
  std::optional<ExpertPlan> experts{};     // of a mixture of experts
};

class MeshTraining {
 public:
  // Makes the groups and this rank's part of the model, with other weights on each of those that
  // are to hold the same. `rank` and `plan` outlive it. Throws what Mesh and make_gpt throw. No
  // communication.
  MeshTraining(Rank& rank, const TrainingPlan& plan, MeshTrainingOptions options);
  MeshTraining(const MeshTraining&) = delete;
  MeshTraining& operator=(const MeshTraining&) = delete;

  const Mesh& mesh() const { return mesh_; }

  // The ranks that hold the same part.
  Comm& data_group() { return data_group_; }

  // Whether each rank has all of it, in its own order: experts are where they were placed.
  bool model_is_whole() const;

  Model& model() { return *model_; }

  // Of the model's parameters those of which this rank is the first holder: the others will have
  // its values.
  std::vector<Parameter*> held_first();

  // Weights of the first data-parallel rank go to all, and gradients into buckets; with ZeRO each
  // rank keeps what is its. Once, before the first step.
  void distribute();

  // What this rank updates: without ZeRO all that it has, in the order of the layers; with it
  // pieces.
  std::vector<Parameter*> parameters();

  // The gradient of the training loop (models/training.hpp).
  StepSum gradient(int step);
  TrainingSeams seams();
  // After the optimizer's step.
  void end_update();

  const StepTimes& times() const { return step_ ? step_->times() : pipeline_->times(); }

  // Of what is no expert's.
  const std::vector<Bucket>& buckets() const { return dense_->buckets(); }

  // With ZeRO, what parameters() are of; empty without.
  std::vector<ShardPiece> pieces() const;

  // With context parallelism; null without.
  const ContextParallel* context() const { return context_ ? &*context_ : nullptr; }

  // With a pipeline; null without.
  const PipelineStep* pipeline() const { return pipeline_ ? &*pipeline_ : nullptr; }

  // With a mixture of experts; null without.
  const MeshExperts* experts() const { return experts_ ? &*experts_ : nullptr; }

 private:
  void make_tensor_parallel(const GptConfig& config);
  void make_context_parallel(const GptConfig& config);
  void make_experts();
  GptPart part() const;
  void make_model();
  bool holds_first(const Parameter& parameter) const;
  void spoil_copies();
  GradientReduction& make_reduction();
  void make_step(GradientReduction& reduction);
  void end_gradient(StepSum& sum);
  bool counts_here(const Parameter& parameter) const;
  double sum_over_parts(double squares);
  double norm();

  Rank& rank_;
  const TrainingPlan& plan_;
  MeshTrainingOptions options_;
  Mesh mesh_;
  Comm data_group_;
  std::optional<Comm> tensor_group_;
  std::optional<Comm> context_group_;
  std::optional<Comm> pipeline_group_;
  std::optional<TensorParallel> tensor_;
  std::optional<ContextParallel> context_;
  std::optional<ParameterCopies> copies_;
  std::optional<BatchStatistics> statistics_;
  std::optional<MeshExperts> experts_;
  std::unique_ptr<Model> model_;
  std::optional<Replicated> dense_;
  std::optional<Replicated> of_experts_;
  std::optional<DenseAndExperts> both_;
  std::optional<DataParallelStep> step_;
  std::optional<PipelineStep> pipeline_;
};

}  // namespace ringside
