#include "parallel/mesh_training.hpp"

#include "collectives/all_reduce.hpp"
#include "collectives/chunk.hpp"
#include "models/gradient_norm.hpp"
#include "models/tensor_elements.hpp"
#include "parallel/batch_share.hpp"
#include "parallel/pipeline/bucket_borders.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

const GptConfig& gpt_of(const TrainingPlan& plan) {
  const auto* config = std::get_if<GptConfig>(&plan.model);
  if (config == nullptr) {
    throw BadUse("only a GPT is cut over ranks: an MLP is trained with dp alone");
  }
  return *config;
}

const std::string& all_reduce_of(const MeshTrainingOptions& options) {
  return options.replicated.data.all_reduce;
}

// Deliberate faults of a router.
void spoil(RouterConfig& router, Fault fault) {
  router.dropped_kept = fault == Fault::dropped_kept;
  if (fault == Fault::masked_groups_eligible) {
    router.top_groups = 0;
  }
}

void divide(const std::vector<Parameter*>& parameters, int divisor) {
  for (const Parameter* p : parameters) {
    map_elements(p->grad, [=](auto g) { return g / static_cast<decltype(g)>(divisor); });
  }
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
                    all_reduce_of(options_));
  }
  if (options_.experts) {
    make_experts();
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

void MeshTraining::make_experts() {
  experts_.emplace(rank_, mesh_, *options_.experts,
                   context_ ? std::optional(context_->blocks()) : std::nullopt,
                   tensor_ && options_.tensor.sequence);
}

GptPart MeshTraining::part() const {
  GptPart part;
  if (tensor_) {
    part.cut = tensor_->cut();
    part.seam = tensor_->seam();
  }
  if (context_) {
    part.attention = context_->attention();
  }
  if (experts_) {
    part.dispatch = experts_->dispatch();
  }
  if (options_.pipeline) {
    const StagePlacement placement(options_.pipeline->schedule);
    part.layers = layers_of(options_.pipeline->split, placement.stages_on(mesh_.at(Axis::pp)));
  }
  return part;
}

void MeshTraining::make_model() {
  const Device device{rank_.memory(), rank_.clock()};
  if (!std::holds_alternative<GptConfig>(plan_.model)) {
    model_ = ringside::make_model(device, plan_.model, plan_.data.seed);
    if (options_.sync_batch_norm) {
      statistics_.emplace(data_group_, all_reduce_of(options_));
      model_->share_statistics(*statistics_);
    }
  } else {
    GptConfig config = gpt_of(plan_);
    if (options_.experts) {
      spoil(config.router, options_.experts->fault);
    }
    model_ = make_gpt(device, config, plan_.data.seed, part());
  }
  spoil_copies();
}

// All but the first of those that are to hold the same start from other weights: only the broadcast
// makes them equal, so that its absence shows.
void MeshTraining::spoil_copies() {
  for (const Parameter* p : flatten(model_->layers())) {
    if (!holds_first(*p)) {
      map_elements(p->value, [](auto x) { return -x; });
    }
  }
}

bool MeshTraining::holds_first(const Parameter& parameter) const {
  return (parameter.expert ? experts_->holders() : data_group_).rank() == 0;
}

std::vector<Parameter*> MeshTraining::held_first() {
  auto first = flatten(model_->layers());
  std::erase_if(first, [this](const Parameter* p) { return !holds_first(*p); });
  return first;
}

void MeshTraining::distribute() {
  make_step(make_reduction());
}

GradientReduction& MeshTraining::make_reduction() {
  ReplicatedOptions options = options_.replicated;
  options.data.complete =
      options.sharded.complete = [this, layers = model_->layers()](std::size_t layer) {
        if (tensor_) {
          tensor_->sum_partial_gradients(layers[layer]);
        }
      };
  if (options_.pipeline) {
    options.data.buckets.borders = options.sharded.buckets.borders =
        bucket_borders(options_.pipeline->schedule, options_.pipeline->split, mesh_.at(Axis::pp),
                       gpt_of(plan_).tied);
  }
  // A pipeline does not know which layer comes next.
  options.sharded.prefetch = options.sharded.prefetch && !options_.pipeline;
  if (!experts_) {
    dense_.emplace(data_group_, rank_.memory(), *model_, options);
    return dense_->reduction();
  }
  options.data.meant = options.sharded.meant = [](const Parameter& p) { return !p.expert; };
  dense_.emplace(data_group_, rank_.memory(), *model_, options);
  options.data.complete = options.sharded.complete = nullptr;
  options.data.meant = options.sharded.meant = [](const Parameter& p) { return p.expert; };
  of_experts_.emplace(experts_->holders(), rank_.memory(), *model_, options);
  both_.emplace(dense_->reduction(), of_experts_->reduction());
  return *both_;
}

void MeshTraining::make_step(GradientReduction& reduction) {
  Microbatches batches = [this](int step, int index) {
    const BatchShare share{mesh_.at(Axis::dp), options_.shape.dp, options_.microbatches};
    Batch batch = microbatch_of(plan_, share, step, index);
    return context_ ? context_->part_of(batch) : batch;
  };
  if (!options_.pipeline) {
    step_.emplace(data_group_, reduction, *model_, std::move(batches), options_.microbatches,
                  options_.experts && options_.experts->two_at_once);
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

bool MeshTraining::model_is_whole() const {
  return options_.shape.tp * options_.shape.pp == 1 && !options_.experts;
}

std::vector<Parameter*> MeshTraining::parameters() {
  if (options_.replicated.zero == 0) {
    return flatten(model_->layers());
  }
  auto all = dense_->parameters();
  if (of_experts_) {
    const auto experts = of_experts_->parameters();
    all.insert(all.end(), experts.begin(), experts.end());
  }
  return all;
}

std::vector<ShardPiece> MeshTraining::pieces() const {
  auto all = dense_->pieces();
  if (of_experts_) {
    const auto experts = of_experts_->pieces();
    all.insert(all.end(), experts.begin(), experts.end());
  }
  return all;
}

StepSum MeshTraining::gradient(int step) {
  StepSum sum = step_ ? (*step_)(step) : (*pipeline_)(step);
  end_gradient(sum);
  return sum;
}

void MeshTraining::end_gradient(StepSum& sum) {
  if (pipeline_) {
    if (options_.pipeline->fault != Fault::copies_not_summed) {
      copies_->sum_gradients(parameters());
    }
    sum.loss = summed(*pipeline_group_, sum.loss, all_reduce_of(options_), "loss");
  }
  if (experts_) {
    experts_->end_step(*model_, copies_ ? copies_->devices() : nullptr);
    if (options_.experts->fault == Fault::expert_gradient_divided) {
      divide(of_experts_->parameters(), options_.experts->placement.ranks());
    }
  }
}

TrainingSeams MeshTraining::seams() {
  TrainingSeams seams{.scale_loss = [this](double scale) { model_->scale_loss(scale); }};
  if (options_.replicated.zero > 0 || tensor_ || pipeline_ || experts_) {
    seams.norm = [this] { return norm(); };
  }
  return seams;
}

void MeshTraining::end_update() {
  dense_->end_update();
  if (of_experts_) {
    of_experts_->end_update();
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
  return pipeline_group_ ? summed(*pipeline_group_, squares, all_reduce_of(options_), "norm")
                         : squares;
}

// With ZeRO each piece is on one of the ranks that have the batch's tokens, an expert's as any
// other; without, each expert is on one of ep.
double MeshTraining::norm() {
  const auto counts = [this](const Parameter& p) { return counts_here(p); };
  const bool alone = dense_->reduction().fault() == Fault::norm_of_rank;
  double squares = dense_->sum_of_squares(counts);
  double experts = of_experts_ ? of_experts_->sum_of_squares(counts) : 0;
  if (options_.replicated.zero > 0) {
    squares += experts;
    squares = alone ? squares : dense_->reduction().sum(squares, "norm");
  } else if (of_experts_) {
    squares += alone ? experts : experts_->sum(experts);
  }
  return norm_of(sum_over_parts(squares), parameters());
}

}  // namespace ringside
