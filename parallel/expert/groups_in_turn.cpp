#include "parallel/expert/groups_in_turn.hpp"

#include "models/gpt.hpp"
#include "parallel/batch_share.hpp"

namespace ringside {

namespace {

// All experts are here, and every decision is noted.
class NotingDispatch : public ExpertDispatch {
 public:
  explicit NotingDispatch(std::vector<RoutedGroup>& groups) : groups_(groups) {}

  std::unique_ptr<ExpertRoutes> route(Device device, const Routing& routing, std::size_t experts,
                                      std::string_view label) override {
    RoutedGroup group = at;
    group.label = label;
    group.routing = routing;
    groups_.push_back(std::move(group));
    return ExpertDispatch::route(device, routing, experts, label);
  }

  RoutedGroup at;

 private:
  std::vector<RoutedGroup>& groups_;
};

}  // namespace

GroupsInTurn train_groups_in_turn(TrainingPlan plan, int ranks, int microbatches) {
  std::get<GptConfig>(plan.model).recompute = Recompute::none;
  GroupsInTurn seen;
  const auto dispatch = std::make_shared<NotingDispatch>(seen.groups);
  DeviceMemory memory(memory_estimate(plan, plan.batch));
  ComputeClock clock;
  const auto model = make_gpt({memory, clock}, std::get<GptConfig>(plan.model), plan.data.seed,
                              {.dispatch = dispatch});
  const auto parameters = flatten(model->layers());
  const auto optimizer = make_optimizer(plan.optimizer, memory, parameters);
  if (plan.start) {
    load_whole(*plan.start, parameters, *optimizer);
  }
  const auto gradient = [&](int step) {
    zero_gradients(parameters);
    StepSum sum;
    for (int r = 0; r < ranks; ++r) {
      for (int m = 0; m < microbatches; ++m) {
        dispatch->at = {.step = step, .rank = r, .microbatch = m};
        const Batch batch = microbatch_of(plan, {r, ranks, microbatches}, step, m);
        sum.loss += model->forward_backward(batch);
        sum.tokens += batch.tokens();
      }
    }
    auto& routers = seen.routers.emplace_back();
    for (RouterState* router : routers_of(*model)) {
      routers.push_back(*router);
      adjust(*router);
    }
    return sum;
  };
  train(plan, parameters, *optimizer, gradient,
        [&](int, StepRecord record) { seen.steps.push_back(std::move(record)); },
        {.scale_loss = [&](double scale) { model->scale_loss(scale); }});
  return seen;
}

std::map<std::string, std::size_t> places_by_name(const GptConfig& config) {
  DeviceMemory memory(std::size_t{1} << 16, Backing::meta);
  ComputeClock clock;
  const auto model = make_gpt({memory, clock}, config, 0);
  std::map<std::string, std::size_t> places;
  for (const Parameter* p : flatten(model->layers())) {
    places.emplace(p->name, places.size());
  }
  return places;
}

}  // namespace ringside
