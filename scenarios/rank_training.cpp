#include "scenarios/rank_training.hpp"

#include "models/gradient_norm.hpp"
#include "models/layout_parts.hpp"
#include "models/random.hpp"
#include "models/tensor_elements.hpp"
#include "parallel/data_parallel.hpp"
#include "parallel/data_parallel_step.hpp"
#include "parallel/gather_checkpoint.hpp"
#include "parallel/mesh.hpp"
#include "parallel/sharded_record.hpp"
#include "parallel/tensor_parallel.hpp"
#include "parallel/zero.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

std::uint64_t hash(std::uint64_t h, const std::vector<double>& elements) {
  for (const double x : elements) {
    h = mix(h ^ std::bit_cast<std::uint64_t>(x));
  }
  return h;
}

std::uint64_t hash(const TensorValues& tensors) {
  std::uint64_t h = 0;
  for (const auto& tensor : tensors) {
    h = hash(h, tensor);
  }
  return h;
}

// Of the parameters whose layout is wanted.
template <class Wanted>
std::uint64_t hash_of(const StepRecord& record, const std::vector<PieceOf>& parts, Wanted wanted) {
  std::uint64_t h = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (wanted(parts[p].layout)) {
      h = hash(hash(h, record.gradients[p]), record.parameters[p]);
    }
  }
  return h;
}

// Rank r's own seed: only the broadcast makes the weights equal, so that its absence shows.
std::uint64_t own_seed(const TrainingPlan& plan, int rank) {
  return rank == 0 ? plan.data.seed : mix(plan.data.seed + static_cast<std::uint64_t>(rank));
}

// How many tensors each layer has.
std::vector<std::size_t> tensors_of(Model& model) {
  std::vector<std::size_t> counts;
  for (const auto& layer : model.layers()) {
    counts.push_back(layer.size());
  }
  return counts;
}

class RankTraining {
 public:
  RankTraining(Rank& rank, const TrainingRequest& request, const TrainingPlan& plan,
               const Reference& reference)
      : rank_(rank),
        request_(request),
        settings_(request.settings),
        plan_(plan),
        reference_(reference),
        mesh_({.tp = settings_.parallel.tp, .dp = data_parallel_ranks(settings_)}, rank.id()),
        group_(rank, "dp", mesh_.members({Axis::dp})) {
    make_model_or_part();
    tensors_ = tensors_of(*model_);
    if (plan.start && group_.rank() == 0) {
      load_weights(*plan.start, flatten(model_->layers()));
    }
  }

  std::vector<StepOutcome> with_data_parallelism();
  std::vector<StepOutcome> with_zero();

 private:
  void make_model_or_part();
  const StepRecord& own_reference(int step);
  ZeroOptions zero_options_of_part();
  TensorValues whole_parameters() const;
  std::unique_ptr<Optimizer> optimizer_for(const std::vector<Parameter*>& parameters) const;
  void save(int step, const StepRecord& record, const std::vector<Parameter*>& parameters,
            Optimizer& optimizer) const;
  void see(int step, const StepTimes& times, const std::vector<Bucket>& buckets,
           const StepRecord& record);

  Rank& rank_;
  const TrainingRequest& request_;
  const Settings& settings_;
  const TrainingPlan& plan_;
  const Reference& reference_;
  Mesh mesh_;
  Comm group_;
  std::unique_ptr<Comm> tp_group_;  // this and the next: of tensor parallelism
  std::unique_ptr<TensorParallel> tp_;
  std::unique_ptr<Model> model_;
  std::vector<std::size_t> tensors_;
  std::vector<PieceOf> parts_;  // of the model's parameters, where it is cut
  StepRecord own_reference_;
  std::vector<StepOutcome> outcomes_;
};

void RankTraining::make_model_or_part() {
  const Device device{rank_.memory(), rank_.clock()};
  const std::uint64_t seed = own_seed(plan_, group_.rank());
  if (settings_.parallel.tp == 1) {
    model_ = make_model(device, plan_.model, seed);
    return;
  }
  const auto& config = std::get<GptConfig>(plan_.model);
  tp_group_ = std::make_unique<Comm>(rank_, "tp", mesh_.members({Axis::tp}));
  tp_ = std::make_unique<TensorParallel>(*tp_group_, rank_.memory(), config,
                                         tensor_options(settings_, request_.fault));
  model_ = make_gpt(device, config, seed, {.cut = tp_->cut(), .seam = tp_->seam()});
  for (const Parameter* p : flatten(model_->layers())) {
    parts_.push_back({.shape = p->value.shape(), .layout = p->layout});
  }
}

// What the reference has of this rank's part of the model.
const StepRecord& RankTraining::own_reference(int step) {
  const StepRecord& whole = reference_[static_cast<std::size_t>(step)];
  if (!tp_) {
    return whole;
  }
  own_reference_ = {.loss = whole.loss,
                    .gradient_norm = whole.gradient_norm,
                    .gradients = parts_of(parts_, whole.gradients),
                    .parameters = parts_of(parts_, whole.parameters)};
  return own_reference_;
}

TensorValues RankTraining::whole_parameters() const {
  TensorValues values;
  for (const Parameter* p : flatten(model_->layers())) {
    with_elements(p->value,
                  [&](auto elements) { values.emplace_back(elements.begin(), elements.end()); });
  }
  return values;
}

void RankTraining::see(int step, const StepTimes& times, const std::vector<Bucket>& buckets,
                       const StepRecord& record) {
  const StepRecord& reference = own_reference(step);
  const auto pieces = pieces_of(buckets, group_.size(), group_.rank());
  const DType dtype = dtype_of(plan_.model);
  outcomes_.push_back(
      {.loss = record.loss,
       .gradient_norm = record.gradient_norm,
       .reference_loss = reference.loss,
       .reference_norm = reference.gradient_norm,
       .gradients = deviation(reference.gradients, record.gradients, dtype),
       .parameters = deviation(reference.parameters, record.parameters, dtype),
       .first = first_difference(reference.gradients, record.gradients, buckets, tensors_),
       .gradient_hash = hash(record.gradients),
       .parameter_hash = hash(record.parameters),
       .shard_gradient_hash = hash(0, elements_in(pieces, tensors_, record.gradients)),
       .shard_parameter_hash = hash(0, elements_in(pieces, tensors_, record.parameters)),
       .copies_hash = hash_of(record, parts_, [](const Layout& l) { return l.dimension < 0; }),
       .kv_hash = hash_of(record, parts_, [](const Layout& l) { return l.partial_gradient; }),
       .memory = rank_.memory().ledger().current,
       .routing = {},
       .start = times.start,
       .forward_end = times.forward_end,
       .backward_end = times.backward_end,
       .gradients_ready = times.gradients_ready,
       .end = rank_.now()});
  if (rank_.id() == 0) {
    rank_.note("step " + std::to_string(step + 1) + " of " + std::to_string(plan_.steps));
  }
}

std::unique_ptr<Optimizer> RankTraining::optimizer_for(
    const std::vector<Parameter*>& parameters) const {
  auto optimizer = make_optimizer(plan_.optimizer, rank_.memory(), parameters);
  if (plan_.start) {
    load_optimizer(*plan_.start, *optimizer);
  }
  return optimizer;
}

// A checkpoint, after the steps after which the scenario wants one.
void RankTraining::save(int step, const StepRecord& record,
                        const std::vector<Parameter*>& parameters, Optimizer& optimizer) const {
  const TrainSettings& train = settings_.train;
  const int steps = step + 1;
  const bool due = train.save_every > 0 && (plan_.first_step() + steps) % train.save_every == 0;
  if (!request_.saves || train.save.empty() || (!due && steps < plan_.steps)) {
    return;
  }
  const Checkpoint checkpoint =
      gather_checkpoint(rank_.world(), plan_, steps, record.next_scale, parameters, optimizer);
  if (rank_.id() == 0) {
    save_checkpoint(train.save, checkpoint);
  }
}

std::vector<StepOutcome> RankTraining::with_data_parallelism() {
  const auto parameters = flatten(model_->layers());
  const auto layers = model_->layers();
  DataParallelOptions options = dp_options(settings_, request_.fault, request_.all_reduce);
  TrainingSeams seams;
  if (tp_) {
    options.complete = [&](std::size_t layer) { tp_->sum_partial_gradients(layers[layer]); };
    seams.norm = [&] { return norm_of(tp_->sum_of_squares(parameters), parameters); };
  }
  DataParallel dp(group_, rank_.memory(), layers, options);
  const auto optimizer = optimizer_for(parameters);
  dp.broadcast_weights();
  DataParallelStep step(group_, dp, *model_, plan_, settings_.parallel.microbatches);
  train(
      plan_, parameters, *optimizer, std::ref(step),
      [&](int s, const StepRecord& record) {
        see(s, step.times(), dp.buckets(), record);
        save(s, record, parameters, *optimizer);
      },
      seams);
  return outcomes_;
}

ZeroOptions RankTraining::zero_options_of_part() {
  ZeroOptions options = zero_options(settings_, request_.fault);
  if (tp_) {
    options.complete = [this, layers = model_->layers()](std::size_t layer) {
      tp_->sum_partial_gradients(layers[layer]);
    };
    options.counts = [this](const Layout& layout) { return tp_->counts_here(layout); };
    options.add_parts = [this](double squares) { return tp_->sum(squares); };
  }
  return options;
}

std::vector<StepOutcome> RankTraining::with_zero() {
  Zero zero(group_, rank_.memory(), *model_, zero_options_of_part());
  const auto optimizer = optimizer_for(zero.parameters());
  DataParallelStep step(group_, zero, *model_, plan_, settings_.parallel.microbatches);
  train(plan_, zero.parameters(), *optimizer, std::ref(step),
        [&](int s, const StepRecord& record) {
          zero.end_update();
          StepRecord whole = whole_tensors(record, zero.pieces(), tensors_, own_reference(s));
          if (settings_.parallel.zero < 3) {
            whole.parameters = whole_parameters();
          }
          see(s, step.times(), zero.buckets(), whole);
          save(s, record, zero.parameters(), *optimizer);
        },
        {.norm = [&] { return zero.gradient_norm(); }});
  return outcomes_;
}

}  // namespace

std::vector<StepOutcome> train_rank(Rank& rank, const TrainingRequest& request,
                                    const TrainingPlan& plan, const Reference& reference) {
  RankTraining training(rank, request, plan, reference);
  return request.settings.parallel.zero > 0 ? training.with_zero()
                                            : training.with_data_parallelism();
}

}  // namespace ringside
