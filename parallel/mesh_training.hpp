// One rank of a training over any mesh: its part of the model, who reduces its gradients, and its
// steps. A product of dimensions is made here and nowhere else.
//
// The model is cut by tensor parallelism inside every stage of a pipeline; the batch is cut over
// the data-parallel ranks, by each of them into micro-batches, and their samples over the
// context-parallel ranks. Gradients, and with ZeRO what else it cuts, are reduced over the ranks
// that hold the same part: those of dp and cp.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "models/training.hpp"
#include "parallel/batch_statistics.hpp"
#include "parallel/context/context_parallel.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/mesh.hpp"
#include "parallel/pipeline/executor.hpp"
#include "parallel/pipeline/parameter_copies.hpp"
#include "parallel/pipeline/stage_split.hpp"
#include "parallel/tensor_parallel.hpp"
#include "parallel/zero.hpp"

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
  int zero = 0;                            // stage; 0: plain data parallelism
  bool sync_batch_norm = false;            // statistics of a batch are those of all dp ranks
  DataParallelOptions data{};              // of plain data parallelism
  ZeroOptions sharded{};                   // of ZeRO
  TensorParallelOptions tensor{};          // of shape.tp above 1
  ContextParallelOptions context{};        // of shape.cp above 1
  std::optional<PipelinePlan> pipeline{};  // of shape.pp above 1, with as many devices
};

class MeshTraining {
 public:
  // Makes the groups and this rank's part of the model, each data-parallel rank from a seed of its
  // own. `rank` and `plan` outlive it. Throws what Mesh and make_gpt throw. No communication.
  MeshTraining(Rank& rank, const TrainingPlan& plan, MeshTrainingOptions options);
  MeshTraining(const MeshTraining&) = delete;
  MeshTraining& operator=(const MeshTraining&) = delete;

  const Mesh& mesh() const { return mesh_; }

  // The ranks that hold the same part.
  Comm& data_group() { return data_group_; }

  // Ranks that share one copy of the model.
  int model_group_size() const { return options_.shape.tp * options_.shape.pp; }

  Model& model() { return *model_; }

  // Weights of the first data-parallel rank go to all, and gradients into buckets; with ZeRO each
  // rank keeps what is its. Once, before the first step.
  void distribute();

  // What this rank updates.
  std::vector<Parameter*> parameters();

  // The gradient of the training loop (models/training.hpp).
  StepSum gradient(int step);
  TrainingSeams seams();
  // After the optimizer's step.
  void end_update();

  const StepTimes& times() const { return step_ ? step_->times() : pipeline_->times(); }

  const std::vector<Bucket>& buckets() const { return zero_ ? zero_->buckets() : data_->buckets(); }

  // With ZeRO; null without.
  Zero* zero() { return zero_ ? &*zero_ : nullptr; }

  // With context parallelism; null without.
  const ContextParallel* context() const { return context_ ? &*context_ : nullptr; }

  // With a pipeline; null without.
  const PipelineStep* pipeline() const { return pipeline_ ? &*pipeline_ : nullptr; }

 private:
  void make_tensor_parallel(const GptConfig& config);
  void make_context_parallel(const GptConfig& config);
  void make_model();
  void make_step(GradientReduction& reduction);
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
  std::unique_ptr<Model> model_;
  std::optional<DataParallel> data_;
  std::optional<Zero> zero_;
  std::optional<DataParallelStep> step_;
  std::optional<PipelineStep> pipeline_;
};

}  // namespace ringside
