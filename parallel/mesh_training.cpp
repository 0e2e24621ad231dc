#include "parallel/mesh_training.hpp"

#include "collectives/all_reduce.hpp"
#include "collectives/chunk.hpp"
#include "models/gradient_norm.hpp"
#include "models/random.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

// A data-parallel rank's own seed: only the broadcast makes the weights equal, so that its absence
// shows.
std::uint64_t seed_of(const TrainingPlan& plan, int data_rank) {
  return data_rank == 0 ? plan.data.seed
                        : mix(plan.data.seed + static_cast<std::uint64_t>(data_rank));
}

const GptConfig& gpt_of(const TrainingPlan& plan) {
  const auto* config = std::get_if<GptConfig>(&plan.model);
  if (config == nullptr) {
    throw BadUse("only a GPT is cut over ranks: an MLP is trained with dp alone");
  }
  return *config;
}

template <class T>
T summed(Comm& group, T value, const std::string& algorithm, std::string_view label) {
  all_reduce(group, buffer_of(std::span(&value, 1)), ReduceOp::sum, {algorithm, label});
  return value;
}

}  // namespace

MeshTraining::MeshTraining(Rank& rank, const TrainingPlan& plan, MeshTrainingOptions options)
    : rank_(rank),
      plan_(plan),
      options_(std::move(options)),
      mesh_(options_.shape, rank.id()),
      data_group_(rank, "dp", mesh_.members({Axis::cp, Axis::dp})) {
  if (options_.shape.tp > 1) {
    make_tensor_parallel(gpt_of(plan));
  }
  if (options_.shape.cp > 1) {
    make_context_parallel(gpt_of(plan));
  }
  if (options_.pipeline) {
    pipeline_group_.emplace(rank, "pp", mesh_.members({Axis::pp}));
    copies_.emplace(*pipeline_group_, options_.pipeline->schedule, gpt_of(plan).tied,
                    options_.data.all_reduce);
  }
  make_model();
}

void MeshTraining::make_tensor_parallel(const GptConfig& config) {
  tensor_group_.emplace(rank_, "tp", mesh_.members({Axis::tp}));
  tensor_.emplace(*tensor_group_, rank_.memory(), config, options_.tensor);
}

void MeshTraining::make_context_parallel(const GptConfig& config) {
  context_group_.emplace(rank_, "cp", mesh_.members({Axis::cp}));
  context_.emplace(*context_group_, Device{rank_.memory(), rank_.clock()}, config, options_.context,
                   options_.shape.tp);
}

void MeshTraining::make_model() {
  const Device device{rank_.memory(), rank_.clock()};
  const std::uint64_t seed = seed_of(plan_, data_group_.rank());
  if (!tensor_ && !context_ && !options_.pipeline) {
    model_ = ringside::make_model(device, plan_.model, seed);
    if (options_.sync_batch_norm) {
      statistics_.emplace(data_group_, options_.data.all_reduce);
      model_->share_statistics(*statistics_);
    }
    return;
  }
  GptPart part;
  if (tensor_) {
    part.cut = tensor_->cut();
    part.seam = tensor_->seam();
  }
  if (context_) {
    part.attention = context_->attention();
  }
  if (options_.pipeline) {
    const StagePlacement placement(options_.pipeline->schedule);
    part.layers = layers_of(options_.pipeline->split, placement.stages_on(mesh_.at(Axis::pp)));
  }
  model_ = make_gpt(device, gpt_of(plan_), seed, part);
}

void MeshTraining::distribute() {
  const auto complete = [this, layers = model_->layers()](std::size_t layer) {
    if (tensor_) {
      tensor_->sum_partial_gradients(layers[layer]);
    }
  };
  if (options_.zero == 0) {
    options_.data.complete = complete;
    data_.emplace(data_group_, rank_.memory(), model_->layers(), options_.data);
    data_->broadcast_weights();
    make_step(*data_);
    return;
  }
  options_.sharded.complete = complete;
  options_.sharded.counts = [this](const Parameter& p) { return counts_here(p); };
  options_.sharded.add_parts = [this](double squares) { return sum_over_parts(squares); };
  // A pipeline does not know which layer comes next.
  options_.sharded.prefetch = options_.sharded.prefetch && !options_.pipeline;
  zero_.emplace(data_group_, rank_.memory(), *model_, options_.sharded);
  make_step(*zero_);
}

void MeshTraining::make_step(GradientReduction& reduction) {
  Microbatches batches = [this](int step, int index) {
    const auto [first, count] =
        samples_of(plan_, mesh_.at(Axis::dp), options_.shape.dp, options_.microbatches, index);
    Batch batch = make_batch(plan_.data, static_cast<std::uint64_t>(step), first, count);
    return context_ ? context_->part_of(batch) : batch;
  };
  if (!options_.pipeline) {
    step_.emplace(data_group_, reduction, *model_, std::move(batches), options_.microbatches);
    return;
  }
  const GptConfig& config = gpt_of(plan_);
  pipeline_.emplace(
      *pipeline_group_, options_.pipeline->schedule, reduction, *model_, std::move(batches),
      PipelineOptions{.layers = options_.pipeline->split,
                      .width = config.hidden,
                      .dtype = config.dtype == DType::f64 ? DType::f64 : DType::f32,
                      .sequence_ranks = options_.tensor.sequence && tensor_
                                            ? static_cast<std::size_t>(options_.shape.tp)
                                            : 1,
                      .costs = options_.pipeline->costs,
                      .fault = options_.pipeline->fault});
}

std::vector<Parameter*> MeshTraining::parameters() {
  return zero_ ? zero_->parameters() : flatten(model_->layers());
}

StepSum MeshTraining::gradient(int step) {
  if (step_) {
    return (*step_)(step);
  }
  StepSum sum = (*pipeline_)(step);
  if (options_.pipeline->fault != Fault::copies_not_summed) {
    copies_->sum_gradients(parameters());
  }
  sum.loss = summed(*pipeline_group_, sum.loss, options_.data.all_reduce, "loss");
  return sum;
}

TrainingSeams MeshTraining::seams() {
  TrainingSeams seams{.scale_loss = [this](double scale) { model_->scale_loss(scale); }};
  if (zero_ || tensor_ || pipeline_) {
    seams.norm = [this] { return norm(); };
  }
  return seams;
}

void MeshTraining::end_update() {
  if (zero_) {
    zero_->end_update();
  }
}

// Each parameter counts once in what is summed over the ranks that share the model.
bool MeshTraining::counts_here(const Parameter& parameter) const {
  const Layout& layout = parameter.piece ? parameter.piece->layout : parameter.layout;
  return (!tensor_ || tensor_->counts_here(layout)) &&
         (!copies_ || copies_->counts_here(parameter));
}

double MeshTraining::sum_over_parts(double squares) {
  if (tensor_) {
    squares = tensor_->sum(squares);
  }
  return pipeline_group_ ? summed(*pipeline_group_, squares, options_.data.all_reduce, "norm")
                         : squares;
}

double MeshTraining::norm() {
  if (zero_) {
    return zero_->gradient_norm();
  }
  const auto all = parameters();
  std::vector<Parameter*> own;
  for (Parameter* parameter : all) {
    if (counts_here(*parameter)) {
      own.push_back(parameter);
    }
  }
  return norm_of(sum_over_parts(sum_of_squares(own)), all);
}

}  // namespace ringside
