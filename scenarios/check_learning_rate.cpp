// The learning rate and the global batch: dp makes the batch larger, and the steps fewer.
#include <spdlog/fmt/fmt.h>

#include "models/tensor_elements.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

using Values = std::vector<std::vector<double>>;

Values first_weights(TrainingPlan plan) {
  Values weights;
  plan.steps = 0;
  train_in_one_process(plan, [&](Model& model) {
    for (const Parameter* p : flatten(model.layers())) {
      with_elements(p->value,
                    [&](auto elements) { weights.emplace_back(elements.begin(), elements.end()); });
    }
    return [](int) { return StepSum{}; };
  });
  return weights;
}

// How far `there` has come on the way from `from` to `to`: 1 when it has arrived.
double share_of_the_way(const Values& from, const Values& to, const Values& there) {
  double along = 0;
  double way = 0;
  for (std::size_t p = 0; p < from.size(); ++p) {
    for (std::size_t i = 0; i < from[p].size(); ++i) {
      const double step = to[p][i] - from[p][i];
      along += step * (there[p][i] - from[p][i]);
      way += step * step;
    }
  }
  return along / way;
}

struct Shares {
  double plain = 0;    // the rate of one card
  double by_rule = 0;  // that times the ranks
};

Checks judged(const Shares& shares, int ranks) {
  constexpr double arrived = 0.75;
  const auto seen = [](double share) { return fmt::format("{:.3f}", share); };
  const std::string near_end = fmt::format("> {}", arrived);
  Check missed = holds("control.rate_not_scaled", !(shares.plain > arrived), seen(shares.plain),
                       "caught by " + near_end, "breaks learning_rate.by_the_rule");
  missed.control = true;
  return {
      lesson(holds("learning_rate.as_on_one_card", shares.plain < 2.0 / ranks, seen(shares.plain),
                   fmt::format("< 2/{} = {:.3f}", ranks, 2.0 / ranks),
                   fmt::format("of the way that one card goes on the same samples in {0} times as "
                               "many steps; 1/{0} where the gradient stays the same",
                               ranks))),
      lesson(holds("learning_rate.by_the_rule", shares.by_rule > arrived, seen(shares.by_rule),
                   near_end, fmt::format("the same, with {} times the rate", ranks))),
      lesson(missed)};
}

}  // namespace

// What the ranks have after the last step is what one process has with the same batch and rate, as
// the gates of both runs say, so that its weights stand for theirs.
Checks check_learning_rate(const CheckContext& context) {
  const Settings& s = context.settings;
  const int ranks = data_parallel_ranks(s);
  if (ranks == 1 || s.train.batch % ranks != 0 || s.train.optimizer != "sgd" ||
      s.train.momentum != 0 || !s.train.resume.empty()) {
    return {
        {.name = "learning_rate.as_on_one_card",
         .measured = fmt::format("dp {}, batch {}, {}", ranks, s.train.batch, s.train.optimizer),
         .gate = "sgd without momentum, dp above 1 that divides train.batch, from the seed",
         .verdict = CheckVerdict::not_applicable}};
  }
  Settings one = s;
  one.train.batch = s.train.batch / ranks;
  one.train.steps = s.train.steps * ranks;
  one.train.lr_batch = one.train.batch;
  Settings other = s;
  other.train.lr_batch = s.train.lr_batch == 0 ? one.train.batch : 0;
  const Reference there = reference_of(other, plan_of(other, context.text));
  const TrainingPlan alone = plan_of(one, context.text);
  const Values from = first_weights(alone);
  const Values to = reference_of(one, alone).steps.back().parameters;
  const double here_share = share_of_the_way(from, to, context.truth.steps.back().parameters);
  const double there_share = share_of_the_way(from, to, there.steps.back().parameters);
  const bool plain = s.train.lr_batch == 0;
  Checks checks = judged(
      {.plain = plain ? here_share : there_share, .by_rule = plain ? there_share : here_share},
      ranks);
  for (Check& gate : training_gates("other_rate", other, context.run(other, there))) {
    checks.push_back(std::move(gate));
  }
  return checks;
}

}  // namespace ringside
