#include "scenarios/expert_training.hpp"

#include <algorithm>
#include <bit>

#include "models/gradient_norm.hpp"
#include "models/random.hpp"
#include "models/tensor_elements.hpp"
#include "parallel/expert/dense_and_experts.hpp"
#include "parallel/expert/expert_groups.hpp"
#include "parallel/expert/expert_parallel.hpp"
#include "parallel/expert/groups_in_turn.hpp"
#include "parallel/expert/two_at_once.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

std::uint64_t hash(const TensorValues& tensors) {
  std::uint64_t h = 0;
  for (const auto& tensor : tensors) {
    for (const double x : tensor) {
      h = mix(h ^ std::bit_cast<std::uint64_t>(x));
    }
  }
  return h;
}

GptConfig config_of(const TrainingPlan& plan, Fault fault) {
  GptConfig config = std::get<GptConfig>(plan.model);
  config.router.dropped_kept = fault == Fault::dropped_kept;
  if (fault == Fault::masked_groups_eligible) {
    config.router.top_groups = 0;
  }
  return config;
}

RoutingOutcome seen_of(const std::vector<RouterState>& routers) {
  RoutingOutcome seen;
  for (const RouterState& router : routers) {
    seen.balance += balance_of(router) / static_cast<double>(routers.size());
    seen.imbalance = std::max(seen.imbalance, imbalance_of(router.counts));
    seen.choices += router.tokens * static_cast<std::int64_t>(router.top_k);
    seen.dropped += router.dropped;
  }
  return seen;
}

class ExpertTraining {
 public:
  ExpertTraining(Rank& rank, const TrainingRequest& request, const TrainingPlan& plan,
                 const Reference& reference)
      : rank_(rank),
        request_(request),
        plan_(plan),
        reference_(reference),
        mesh_({.dp = request.settings.parallel.dp}, rank.id()),
        groups_(expert_groups(mesh_, request.settings.parallel.ep)),
        dp_group_(rank, "dp", mesh_.members({Axis::dp})),
        ep_group_(rank, "ep", groups_.together),
        holders_(rank, "edp", groups_.holders),
        ep_(ep_group_, rank.memory(), placement_of(request.settings),
            {.by_node = request.settings.parallel.dispatch == "by_node",
             .all_to_all = request.settings.collectives.all_to_all,
             .all_reduce = request.settings.collectives.all_reduce,
             .fault = request.fault}),
        places_(places_by_name(std::get<GptConfig>(plan.model))),
        model_(make_gpt({rank.memory(), rank.clock()}, config_of(plan, request.fault),
                        plan.data.seed, {.dispatch = ep_.dispatch()})) {
    spoil(dense_parameters(model_->layers()), dp_group_);
    spoil(expert_parameters(model_->layers()), holders_);
  }

  std::vector<StepOutcome> run();

 private:
  // All but the first of the group start from other weights: only the broadcast makes them equal,
  // so that its absence shows.
  static void spoil(const std::vector<std::vector<Parameter*>>& layers, const Comm& group) {
    for (const Parameter* p : flatten(layers)) {
      if (group.rank() > 0) {
        map_elements(p->value, [](auto x) { return -x; });
      }
    }
  }

  Microbatches batches();
  TensorValues parts(const TensorValues& whole) const;
  void see(int step, const StepTimes& times, const StepRecord& record);

  Rank& rank_;
  const TrainingRequest& request_;
  const TrainingPlan& plan_;
  const Reference& reference_;
  Mesh mesh_;
  ExpertGroups groups_;
  Comm dp_group_;
  Comm ep_group_;
  Comm holders_;
  ExpertParallel ep_;
  std::map<std::string, std::size_t> places_;
  std::unique_ptr<Model> model_;
  RoutingOutcome routing_;
  std::vector<StepOutcome> outcomes_;
};

Microbatches ExpertTraining::batches() {
  return [this](int step, int index) {
    const auto [first, count] =
        samples_of(plan_, dp_group_, request_.settings.parallel.microbatches, index);
    return make_batch(plan_.data, static_cast<std::uint64_t>(step), first, count);
  };
}

// Of this rank's parameters.
TensorValues ExpertTraining::parts(const TensorValues& whole) const {
  TensorValues mine;
  for (const Parameter* p : flatten(model_->layers())) {
    mine.push_back(whole[places_.at(p->name)]);
  }
  return mine;
}

void ExpertTraining::see(int step, const StepTimes& times, const StepRecord& record) {
  const StepRecord& whole = reference_[static_cast<std::size_t>(step)];
  const DType dtype = dtype_of(plan_.model);
  outcomes_.push_back({.loss = record.loss,
                       .gradient_norm = record.gradient_norm,
                       .reference_loss = whole.loss,
                       .reference_norm = whole.gradient_norm,
                       .gradients = deviation(parts(whole.gradients), record.gradients, dtype),
                       .parameters = deviation(parts(whole.parameters), record.parameters, dtype),
                       .first = {},
                       .gradient_hash = hash(record.gradients),
                       .parameter_hash = hash(record.parameters),
                       .memory = rank_.memory().ledger().current,
                       .routing = routing_,
                       .start = times.start,
                       .forward_end = times.forward_end,
                       .backward_end = times.backward_end,
                       .gradients_ready = times.gradients_ready,
                       .end = rank_.now()});
  if (rank_.id() == 0) {
    rank_.note("step " + std::to_string(step + 1) + " of " + std::to_string(plan_.steps));
  }
}

std::vector<StepOutcome> ExpertTraining::run() {
  const Settings& s = request_.settings;
  const auto parameters = flatten(model_->layers());
  DenseAndExperts dp(dp_group_, holders_, rank_.memory(), model_->layers(),
                     dp_options(s, request_.fault, request_.all_reduce));
  const auto optimizer = make_optimizer(plan_.optimizer, rank_.memory(), parameters);
  dp.broadcast_weights();
  DataParallelStep one(dp_group_, dp, *model_, batches(), s.parallel.microbatches);
  TwoAtOnce two(dp_group_, dp, *model_, batches(), s.parallel.microbatches);
  const auto gradient = [&](int step) {
    const StepSum sum = s.parallel.ep_overlap ? two(step) : one(step);
    routing_ = seen_of(ep_.end_step(*model_, dp_group_));
    return sum;
  };
  train(plan_, parameters, *optimizer, gradient,
        [&](int step, const StepRecord& record) { see(step, one.times(), record); },
        {.norm =
             [&] {
               return norm_of(
                   sum_of_squares(ep_group_, parameters, s.collectives.all_reduce, request_.fault),
                   parameters);
             },
         .scale_loss = [&](double scale) { model_->scale_loss(scale); }});
  return outcomes_;
}

}  // namespace

std::vector<StepOutcome> train_rank_with_experts(Rank& rank, const TrainingRequest& request,
                                                 const TrainingPlan& plan,
                                                 const Reference& reference) {
  return ExpertTraining(rank, request, plan, reference).run();
}

Placement placement_of(const Settings& s) {
  const auto experts = static_cast<std::size_t>(s.model.experts);
  return s.parallel.placement == "random"
             ? Placement::random(experts, s.parallel.ep, static_cast<std::uint64_t>(s.train.seed))
             : Placement(experts, s.parallel.ep);
}

}  // namespace ringside
