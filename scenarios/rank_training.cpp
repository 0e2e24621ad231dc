#include "scenarios/rank_training.hpp"

#include <map>

#include "models/layout_parts.hpp"
#include "models/random.hpp"
#include "models/tensor_elements.hpp"
#include "parallel/gather_checkpoint.hpp"
#include "parallel/mesh_training.hpp"
#include "parallel/sharded_record.hpp"
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

RoutingOutcome routing_of(const MeshExperts* experts) {
  RoutingOutcome seen;
  if (experts == nullptr) {
    return seen;
  }
  for (const RouterState& router : experts->routers()) {
    ++seen.layers;
    seen.balance += balance_of(router);
    seen.imbalance = std::max(seen.imbalance, imbalance_of(router.counts));
    seen.choices += router.tokens * static_cast<std::int64_t>(router.top_k);
    seen.dropped += router.dropped;
  }
  return seen;
}

// How many tensors each layer has.
std::vector<std::size_t> tensors_of(Model& model) {
  std::vector<std::size_t> counts;
  for (const auto& layer : model.layers()) {
    counts.push_back(layer.size());
  }
  return counts;
}

// Where each parameter of the model stands among those of the whole one.
std::vector<std::size_t> places_in_whole(const TrainingPlan& plan, Model& model) {
  DeviceMemory nothing(1 << 20, Backing::meta);
  ComputeClock clock;
  const auto whole = make_gpt({nothing, clock}, std::get<GptConfig>(plan.model), 0);
  std::map<std::string, std::size_t> place;
  for (const Parameter* p : flatten(whole->layers())) {
    place.emplace(p->name, place.size());
  }
  std::vector<std::size_t> places;
  for (const Parameter* p : flatten(model.layers())) {
    places.push_back(place.at(p->name));
  }
  return places;
}

// Of the whole tensors; nothing of those that are empty, as gradients are of what does not learn.
TensorValues cut(const std::vector<PieceOf>& parts, const TensorValues& wholes) {
  TensorValues values(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (!wholes[p].empty()) {
      values[p] = parts_of({parts[p]}, {wholes[p]}).front();
    }
  }
  return values;
}

TensorValues picked(const TensorValues& all, const std::vector<std::size_t>& places) {
  TensorValues values;
  for (const std::size_t place : places) {
    values.push_back(all[place]);
  }
  return values;
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
        training_(rank, plan, mesh_options(settings_, request.fault, request.all_reduce)) {
    Model& model = training_.model();
    tensors_ = tensors_of(model);
    if (!training_.model_is_whole()) {
      places_ = places_in_whole(plan, model);
      for (const Parameter* p : flatten(model.layers())) {
        parts_.push_back({.shape = p->value.shape(), .layout = p->layout});
      }
    }
    if (plan.start) {
      load_weights(*plan.start, training_.held_first());
    }
    training_.distribute();
  }

  std::vector<StepOutcome> run();

 private:
  const StepRecord& own_reference(int step);
  TensorValues whole_parameters();
  std::unique_ptr<Optimizer> optimizer_for(const std::vector<Parameter*>& parameters) const;
  void save(int step, const StepRecord& record, const std::vector<Parameter*>& parameters,
            Optimizer& optimizer);
  StepRecord with_whole_tensors(int step, const StepRecord& record);
  void see(int step, const StepRecord& record);

  Rank& rank_;
  const TrainingRequest& request_;
  const Settings& settings_;
  const TrainingPlan& plan_;
  const Reference& reference_;
  MeshTraining training_;
  std::vector<std::size_t> tensors_;
  std::vector<std::size_t>
      places_;  // this and the next: of the model's parameters, where it is cut
  std::vector<PieceOf> parts_;
  StepRecord own_reference_;
  std::vector<StepOutcome> outcomes_;
};

// What the reference has of this rank's part of the model.
const StepRecord& RankTraining::own_reference(int step) {
  const StepRecord& whole = reference_.steps[static_cast<std::size_t>(step)];
  if (parts_.empty()) {
    return whole;
  }
  own_reference_ = {.loss = whole.loss,
                    .gradient_norm = whole.gradient_norm,
                    .gradients = cut(parts_, picked(whole.gradients, places_)),
                    .parameters = cut(parts_, picked(whole.parameters, places_)),
                    .skipped = whole.skipped};
  return own_reference_;
}

TensorValues RankTraining::whole_parameters() {
  TensorValues values;
  for (const Parameter* p : flatten(training_.model().layers())) {
    with_elements(p->value,
                  [&](auto elements) { values.emplace_back(elements.begin(), elements.end()); });
  }
  return values;
}

void RankTraining::see(int step, const StepRecord& record) {
  const StepRecord& reference = own_reference(step);
  const auto& buckets = training_.buckets();
  const StepTimes& times = training_.times();
  const Comm& group = training_.data_group();
  const auto pieces = pieces_of(buckets, group.size(), group.rank());
  const DType dtype = dtype_of(plan_.model);
  // What both have thrown away is infinite or no number, and is not compared.
  const bool thrown_away = record.skipped && reference.skipped;
  outcomes_.push_back(
      {.loss = record.loss,
       .gradient_norm = thrown_away ? 0 : record.gradient_norm,
       .reference_loss = reference.loss,
       .reference_norm = thrown_away ? 0 : reference.gradient_norm,
       .gradients =
           thrown_away ? Deviation{} : deviation(reference.gradients, record.gradients, dtype),
       .parameters = deviation(reference.parameters, record.parameters, dtype),
       .first = thrown_away
                    ? FirstDifference{}
                    : first_difference(reference.gradients, record.gradients, buckets, tensors_),
       .gradient_hash = hash(record.gradients),
       .parameter_hash = hash(record.parameters),
       .shard_gradient_hash = hash(0, elements_in(pieces, tensors_, record.gradients)),
       .shard_parameter_hash = hash(0, elements_in(pieces, tensors_, record.parameters)),
       .copies_hash = hash_of(record, parts_, [](const Layout& l) { return l.dimension < 0; }),
       .kv_hash = hash_of(record, parts_, [](const Layout& l) { return l.partial_gradient; }),
       .skipped = record.skipped,
       .reference_skipped = reference.skipped,
       .head_pairs = training_.context() ? training_.context()->head_pairs() : 0,
       .memory = rank_.memory().ledger().current,
       .peak_in_flight = training_.pipeline() ? training_.pipeline()->peak_in_flight() : 0,
       .routing = routing_of(training_.experts()),
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
                        const std::vector<Parameter*>& parameters, Optimizer& optimizer) {
  const TrainSettings& train = settings_.train;
  const int steps = step + 1;
  const bool due = train.save_every > 0 && (plan_.first_step() + steps) % train.save_every == 0;
  if (!request_.saves || train.save.empty() || (!due && steps < plan_.steps)) {
    return;
  }
  auto weights = parameters;
  if (settings_.parallel.zero > 0) {  // which cuts what learns only
    const auto all = flatten(training_.model().layers());
    std::ranges::copy_if(all, std::back_inserter(weights),
                         [](const Parameter* p) { return !p->trainable; });
  }
  const Checkpoint checkpoint =
      gather_checkpoint(rank_.world(), plan_, steps, record.next_scale, weights, optimizer);
  if (rank_.id() == 0) {
    save_checkpoint(train.save, checkpoint);
  }
}

// With ZeRO a rank's record is of pieces.
StepRecord RankTraining::with_whole_tensors(int step, const StepRecord& record) {
  if (settings_.parallel.zero == 0) {
    return record;
  }
  StepRecord whole = whole_tensors(record, training_.pieces(), tensors_, own_reference(step));
  if (settings_.parallel.zero < 3) {
    whole.parameters = whole_parameters();
  }
  return whole;
}

std::vector<StepOutcome> RankTraining::run() {
  const auto parameters = training_.parameters();
  const auto optimizer = optimizer_for(parameters);
  train(
      plan_, parameters, *optimizer, [&](int s) { return training_.gradient(s); },
      [&](int s, const StepRecord& record) {
        training_.end_update();
        see(s, with_whole_tensors(s, record));
        save(s, record, parameters, *optimizer);
      },
      training_.seams());
  return outcomes_;
}

}  // namespace

std::vector<StepOutcome> train_rank(Rank& rank, const TrainingRequest& request,
                                    const TrainingPlan& plan, const Reference& reference) {
  return RankTraining(rank, request, plan, reference).run();
}

}  // namespace ringside
