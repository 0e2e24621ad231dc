// The mixture of experts in one process: what it computes, its gradients, and the choices of cases
// K1, K3, K5, K6 and K7.
#include "models/mixture.hpp"

#include <gtest/gtest.h>

#include "models/gpt.hpp"
#include "models/initialise.hpp"
#include "models/text.hpp"
#include "models/training.hpp"
#include "runtime/errors.hpp"
#include "tests/models/layer_gradients.hpp"

namespace ringside {
namespace {

constexpr std::size_t hidden = 6;
constexpr std::size_t ffn = 5;
constexpr std::size_t rows = 8;
using Values = std::vector<double>;
using Places = std::vector<std::size_t>;

Parameter weight(SingleDevice& d, const std::string& name, std::vector<std::size_t> shape) {
  return make_parameter<double>(d.device, name + ".weight", std::move(shape), 1.0, 5);
}

SwiGlu<double>::Weights expert(SingleDevice& d, std::size_t e) {
  const std::string name = "m.experts." + std::to_string(e);
  return {.gate = weight(d, name + ".gate", {hidden, ffn}),
          .up = weight(d, name + ".up", {hidden, ffn}),
          .down = weight(d, name + ".down", {ffn, hidden})};
}

struct Mixed {
  explicit Mixed(Router<double>::Options options) {
    Mixture<double>::Weights weights{.router = weight(d, "m.router", {hidden, options.experts})};
    if (options.config.bias_rate > 0) {
      weights.bias = make_parameter<double>(d.device, "m.router.bias", {options.experts}, 0, 5);
      freeze(*weights.bias);
    }
    for (std::size_t e = 0; e < options.experts; ++e) {
      weights.experts.push_back(expert(d, e));
    }
    layer = std::make_unique<Mixture<double>>(d.device, "m", options, std::move(weights),
                                              std::make_shared<ExpertDispatch>());
  }

  // Scores of expert e are those of a token whose only element is e-th: logits are the tokens.
  void route_by_first_elements() {
    const auto w = layer->parameters()[0]->value.as<double>();
    std::ranges::fill(w, 0);
    const std::size_t experts = w.size() / hidden;
    for (std::size_t e = 0; e < std::min(experts, hidden); ++e) {
      w[e * experts + e] = 1;
    }
  }

  Tensor tokens(const Values& elements) {
    Tensor x = d.tensor<double>({elements.size() / hidden, hidden}, 1);
    std::ranges::copy(elements, x.as<double>().begin());
    return x;
  }

  Values forward(const Tensor& x) {
    Saved saved;
    return copy_of<double>(layer->forward(x, saved));
  }

  RouterState& state() { return *layer->routers()[0]; }

  SingleDevice d;
  std::unique_ptr<Mixture<double>> layer;
};

// One token [hidden] for each expert named: its logit there is `height`, elsewhere 0.
Values tokens_for(const Places& experts, double height) {
  Values all;
  for (const std::size_t e : experts) {
    Values token(hidden, 0);
    token[e] = height;
    all.insert(all.end(), token.begin(), token.end());
  }
  return all;
}

// ---- What it is
// ----------------------------------------------------------------------------------

TEST(MixtureLayer, IsTheWeightedSumOfTheChosenExperts) {
  Mixed m({.experts = 4, .top_k = 2});
  const Tensor x = m.d.tensor<double>({rows, hidden}, 1);
  const auto seen = m.forward(x);
  const auto in = copy_of<double>(x);
  const auto w = copy_of<double>(m.layer->parameters()[0]->value);
  for (std::size_t t = 0; t < rows; ++t) {
    std::vector<std::pair<double, std::size_t>> logits;
    for (std::size_t e = 0; e < 4; ++e) {
      double z = 0;
      for (std::size_t i = 0; i < hidden; ++i) {
        z += in[t * hidden + i] * w[i * 4 + e];
      }
      logits.emplace_back(-z, e);
    }
    std::ranges::sort(logits);
    const double first = std::exp(-logits[0].first);
    const double second = std::exp(-logits[1].first);
    Values expected(hidden, 0);
    for (const auto& [share, e] :
         {std::pair(first, logits[0].second), {second, logits[1].second}}) {
      SwiGlu<double> alone(m.d.device, "m.experts", expert(m.d, e), std::make_shared<Seam>());
      Saved saved;
      const Tensor y = alone.forward(x.view(t * hidden, {1, hidden}, "token"), saved);
      for (std::size_t i = 0; i < hidden; ++i) {
        expected[i] += share / (first + second) * y.as<double>()[i];
      }
    }
    for (std::size_t i = 0; i < hidden; ++i) {
      EXPECT_NEAR(seen[t * hidden + i], expected[i], 1e-13) << t;
    }
  }
}

TEST(MixtureLayer, GradientsAreTheDerivatives) {
  for (const auto score : {RouterScore::softmax, RouterScore::sigmoid}) {
    for (const std::size_t top_k : Places{1, 2, 3}) {
      Mixed m({.experts = 4, .top_k = top_k, .config = {.score = score}});
      const LayerRun run(m.d, *m.layer, m.d.tensor<double>({rows, hidden}, 1), {3, 1, 4});
      EXPECT_LT(run.worst_input_gradient(), 1e-8) << top_k;
      EXPECT_LT(run.worst_weight_gradient(), 1e-8) << top_k;
    }
  }
}

TEST(MixtureLayer, GradientsAreTheDerivativesWithDroppedTokensAndGroups) {
  Mixed m(
      {.experts = 4,
       .top_k = 2,
       .config = {.score = RouterScore::sigmoid, .groups = 2, .top_groups = 1, .capacity = 0.75}});
  const LayerRun run(m.d, *m.layer, m.d.tensor<double>({rows, hidden}, 1), {8});
  EXPECT_LT(run.worst_input_gradient(), 1e-8);
  EXPECT_LT(run.worst_weight_gradient(), 1e-8);
  EXPECT_GT(m.state().dropped, 0);
}

// The auxiliary loss is not in the output: its derivative is the difference to a run without it.
TEST(MixtureLayer, TheGradientOfTheAuxiliaryLossIsItsDerivative) {
  constexpr double coefficient = 0.5;
  for (const auto score : {RouterScore::softmax, RouterScore::sigmoid}) {
    const auto gradient = [&](double balance, bool scaled) {
      Mixed m({.experts = 4, .top_k = 2, .config = {.score = score, .balance = balance}});
      m.layer->scale_loss(scaled ? 2 : 1);
      const Tensor x = m.d.tensor<double>({rows, hidden}, 1);
      Saved saved;
      m.layer->forward(x, saved);
      m.layer->backward_input(m.d.tensor<double>({rows, hidden}, 1000), saved);
      m.layer->backward_weight(saved);
      return copy_of<double>(m.layer->parameters()[0]->grad);
    };
    Mixed m({.experts = 4, .top_k = 2, .config = {.score = score}});
    const Tensor x = m.d.tensor<double>({rows, hidden}, 1);
    Values slopes;
    for (double& element : m.layer->parameters()[0]->value.as<double>()) {
      slopes.push_back(derivative(element, [&] {
        adjust(m.state());
        m.forward(x);
        return coefficient * m.state().balance;
      }));
    }
    const auto without = gradient(0, false);
    const auto with = gradient(coefficient, false);
    const auto scaled = gradient(coefficient, true);
    Values seen;
    Values twice;
    for (std::size_t i = 0; i < with.size(); ++i) {
      seen.push_back(with[i] - without[i]);
      twice.push_back((scaled[i] - without[i]) / 2);
    }
    EXPECT_LT(relative_difference(slopes, seen), 1e-8);
    EXPECT_LT(relative_difference(slopes, twice), 1e-8);
  }
}

TEST(MixtureLayer, ThreeStepsAreTheWhole) {
  Mixed m({.experts = 4, .top_k = 2});
  const Tensor a = m.d.tensor<double>({rows, hidden}, 1);
  const Tensor b = m.d.tensor<double>({rows, hidden}, 50);
  Saved of_a;
  Saved of_b;
  m.layer->start_forward(a, of_a);
  m.layer->start_forward(b, of_b);
  m.layer->continue_forward(of_a);
  m.layer->continue_forward(of_b);
  const auto y = copy_of<double>(m.layer->finish_forward(of_a));
  EXPECT_EQ(copy_of<double>(m.layer->finish_forward(of_b)), m.forward(b));
  EXPECT_EQ(y, m.forward(a));
}

// ---- Case K1: experts that get no token, one process --------------------------------------------

TEST(CaseK1, OneProcessTakesAnExpertWithoutTokensAndABatchWithout) {
  Mixed m({.experts = 4, .top_k = 1});
  m.route_by_first_elements();
  const Tensor x = m.tokens(tokens_for(Places(8, 0), 3));
  const LayerRun run(m.d, *m.layer, x, {8});
  EXPECT_LT(run.worst_input_gradient(), 1e-8);
  EXPECT_EQ(m.state().counts[1] + m.state().counts[2] + m.state().counts[3], 0);
  Saved saved;
  const Tensor none(m.d.memory, DType::f64, {0, hidden}, Category::activations, "none");
  EXPECT_EQ(m.layer->forward(none, saved).count(), 0U);
  EXPECT_EQ(m.layer->backward_input(none, saved).count(), 0U);
  m.layer->backward_weight(saved);
}

// ---- Case K3: the scale of the balance loss -----------------------------------------------------

double balance_with(std::size_t top_k, const Places& experts, double height) {
  Mixed m({.experts = 4, .top_k = top_k});
  m.route_by_first_elements();
  m.forward(m.tokens(tokens_for(experts, height)));
  return balance_of(m.state());
}

TEST(CaseK3, TheBalanceLossIsOneWhenBalancedAndTheExpertsWhenCollapsed) {
  EXPECT_NEAR(balance_with(1, {0, 1, 2, 3, 0, 1, 2, 3}, 3), 1, 1e-12);
  EXPECT_NEAR(balance_with(1, Places(8, 0), 200), 4, 1e-12);
  EXPECT_GT(balance_with(1, Places(8, 0), 3), 1.5);  // the scores are spread
  // Two choices: in pairs 01, 12, 23, 30 by a second element.
  Mixed m({.experts = 4, .top_k = 2});
  m.route_by_first_elements();
  Values pairs = tokens_for({0, 1, 2, 3}, 3);
  for (std::size_t t = 0; t < 4; ++t) {
    pairs[t * hidden + (t + 1) % 4] = 2;
  }
  m.forward(m.tokens(pairs));
  EXPECT_NEAR(balance_of(m.state()), 1, 1e-12);
}

// ---- Case K5: masked groups must not be eligible ------------------------------------------------

TEST(CaseK5, ExpertsOfMaskedGroupsAreNotChosen) {
  const Values scores{-.1, -.2, -.3, -.4, -.5, -.6, -.7, -.8};
  RouterConfig config{.groups = 4, .top_groups = 2};
  EXPECT_EQ(choose_experts(scores, 3, config), (Places{0, 1, 2}));
  config.masked_groups_eligible = true;
  EXPECT_EQ(choose_experts(scores, 3, config), (Places{4, 5, 6}));  // the fault, which shows
}

TEST(CaseK5, GroupsAreScoredByTheSumOfTheirTwoBest) {
  const Values scores{.9, 0, .5, .5, .8, .1, .1, .1};
  EXPECT_EQ(choose_experts(scores, 2, {.groups = 4, .top_groups = 1}), (Places{2, 3}));
}

TEST(CaseK5, ATokenGoesToAtMostTheLimitOfGroups) {
  const RouterConfig config{.groups = 4, .top_groups = 2};
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Values keys;
    for (std::uint64_t e = 0; e < 16; ++e) {
      keys.push_back(uniform(mix(seed * 100 + e)));
    }
    std::vector<bool> group(4, false);
    for (const std::size_t e : choose_experts(keys, 5, config)) {
      group[e / 4] = true;
    }
    EXPECT_LE(std::ranges::count(group, true), 2) << seed;
  }
}

// DeepSeek-V3's 256 experts in 8 groups, 8 a token: 8 (1 - C(224, 8) / C(256, 8)) = 5.295 groups on
// average without a limit; at most 4 with its own.
TEST(CaseK5, WithoutALimitATokenGoesToAsManyGroupsAsTheFormulaSays) {
  const auto groups_of = [](std::uint64_t token, const RouterConfig& config) {
    Values scores;
    for (std::uint64_t e = 0; e < 256; ++e) {
      scores.push_back(uniform(mix(mix(token) + e)));
    }
    std::vector<bool> group(8, false);
    for (const std::size_t e : choose_experts(scores, 8, config)) {
      group[e / 32] = true;
    }
    return std::ranges::count(group, true);
  };
  double missed = 1;
  for (int i = 0; i < 8; ++i) {
    missed *= (224.0 - i) / (256.0 - i);
  }
  double sum = 0;
  std::ptrdiff_t most = 0;
  constexpr std::uint64_t tokens = 2000;
  for (std::uint64_t t = 0; t < tokens; ++t) {
    sum += static_cast<double>(groups_of(t, {}));
    most = std::max(most, groups_of(t, {.groups = 8, .top_groups = 4}));
  }
  EXPECT_NEAR(8 * (1 - missed), 5.295, 5e-4);
  EXPECT_NEAR(sum / tokens, 8 * (1 - missed), 0.1);  // drawn: five standard errors
  EXPECT_EQ(most, 4);
}

// ---- Case K6: ties ------------------------------------------------------------------------------

TEST(CaseK6, TiesGoToTheLowestIndex) {
  EXPECT_EQ(choose_experts(Values(4, .25), 2, {}), (Places{0, 1}));
  EXPECT_EQ(choose_experts(Values{.1, .3, .1, .1}, 2, {}), (Places{0, 1}));  // at the k-th place
  EXPECT_EQ(choose_experts(Values(8, 1), 2, {.groups = 4, .top_groups = 1}), (Places{0, 1}));
  EXPECT_EQ(choose_experts(Values{0, 0, 1, 1, 1, 1, 0, 0}, 2, {.groups = 4, .top_groups = 1}),
            (Places{2, 3}));
}

TEST(CaseK6, EqualLogitsGiveHalvesToTheFirstTwoEveryTime) {
  Values first;
  for (int run = 0; run < 20; ++run) {
    Mixed m({.experts = 4, .top_k = 2});
    std::ranges::fill(m.layer->parameters()[0]->value.as<double>(), 0);
    const Tensor x = m.d.tensor<double>({rows, hidden}, 1);
    const auto y = m.forward(x);
    EXPECT_EQ(m.state().counts, (ExpertCounts{rows, rows, 0, 0}));
    Values halves(y.size(), 0);
    for (std::size_t e = 0; e < 2; ++e) {
      SwiGlu<double> alone(m.d.device, "m.experts", expert(m.d, e), std::make_shared<Seam>());
      Saved saved;
      const auto part = copy_of<double>(alone.forward(x, saved));
      for (std::size_t i = 0; i < y.size(); ++i) {
        halves[i] += 0.5 * part[i];
      }
    }
    EXPECT_EQ(y, halves);
    first = first.empty() ? y : first;
    EXPECT_EQ(y, first);
  }
}

// ---- Case K7: capacity --------------------------------------------------------------------------

TEST(CaseK7, CapacityIsRoundedUp) {
  EXPECT_EQ(expert_capacity(8, 1, 1.0, 4), 2);
  EXPECT_EQ(expert_capacity(10, 1, 1.0, 4), 3);
  EXPECT_EQ(expert_capacity(8, 1, 1.25, 4), 3);
}

TEST(CaseK7, WhatPassesTheCapacityGivesNothingAndIsCounted) {
  RouterConfig config{.capacity = 1.0};
  for (const bool kept : {false, true}) {
    config.dropped_kept = kept;
    Mixed m({.experts = 4, .top_k = 1, .config = config});
    m.route_by_first_elements();
    const auto y = m.forward(m.tokens(tokens_for(Places(8, 0), 3)));
    EXPECT_EQ(m.state().dropped, kept ? 0 : 6);
    for (std::size_t t = 0; t < 8; ++t) {
      const bool zero = std::all_of(y.begin() + static_cast<std::ptrdiff_t>(t * hidden),
                                    y.begin() + static_cast<std::ptrdiff_t>((t + 1) * hidden),
                                    [](double v) { return v == 0; });
      EXPECT_EQ(zero, !kept && t >= 2) << "the first two tokens go first; token " << t;
    }
  }
}

TEST(CaseK7, TokensOfTheRoutingGroupThatComeBeforeTakeTheirPlace) {
  Routing routing{.tokens = 4, .top_k = 1, .experts = {0, 1, 0, 0}};
  drop_beyond(2, {1, 2}, routing, 0, routing.tokens);
  EXPECT_EQ(routing.experts, (std::vector<std::int32_t>{0, -1, -1, -1}));
}

// ---- Bias ---------------------------------------------------------------------------------------

TEST(RouterBias, MovesAgainstTheCounts) {
  Mixed m({.experts = 4, .top_k = 1, .config = {.bias_rate = 0.25}});
  m.route_by_first_elements();
  m.forward(m.tokens(tokens_for({0, 0, 0, 1, 1, 2, 2, 3}, 3)));
  adjust(m.state());
  EXPECT_EQ(copy_of<double>(m.layer->parameters()[1]->value), (Values{-.25, 0, 0, .25}));
  EXPECT_EQ(m.state().counts, ExpertCounts(4, 0));
}

// It decides who is chosen, and is in no weight.
TEST(RouterBias, ChoosesAndDoesNotWeigh) {
  Mixed m({.experts = 4, .top_k = 1, .config = {.bias_rate = 0.25}});
  const Tensor x = m.d.tensor<double>({rows, hidden}, 1);
  m.layer->parameters()[1]->value.as<double>()[2] = 10;
  const auto y = m.forward(x);
  EXPECT_EQ(m.state().counts, (ExpertCounts{0, 0, rows, 0}));
  SwiGlu<double> alone(m.d.device, "m.experts", expert(m.d, 2), std::make_shared<Seam>());
  Saved saved;
  EXPECT_EQ(y, copy_of<double>(alone.forward(x, saved)));
}

// ---- In the GPT ---------------------------------------------------------------------------------

constexpr GptConfig small{.layers = 2,
                          .hidden = 12,
                          .heads = 2,
                          .kv_heads = 1,
                          .ffn = 10,
                          .dtype = DType::f64,
                          .experts = 4};

TEST(MixtureInGpt, NamesItsParametersAndCountsThem) {
  for (const double bias_rate : {0.0, 0.01}) {
    SingleDevice d;
    GptConfig config = small;
    config.router.bias_rate = bias_rate;
    const auto model = make_gpt(d.device, config, 1);
    std::vector<std::vector<std::size_t>> counts;
    for (const auto& layer : model->layers()) {
      counts.emplace_back();
      for (const Parameter* p : layer) {
        counts.back().push_back(p->value.count());
      }
    }
    EXPECT_EQ(counts, tensor_counts(config));
    const auto block = model->layers()[2];
    EXPECT_EQ(block[6]->name, "layers.1.mlp.router.weight");
    EXPECT_EQ(block[bias_rate > 0 ? 8 : 7]->name, "layers.1.mlp.experts.0.gate.weight");
    EXPECT_EQ(block.back()->name, "layers.1.mlp.experts.3.down.weight");
  }
}

TEST(MixtureInGpt, GradientsAreTheDerivatives) {
  SingleDevice d;
  const auto model = make_gpt(d.device, small, 1);
  const auto parameters = flatten(model->layers());
  const DataSource source{.text = builtin_text(), .sequence = 12, .context = 1};
  const Batch batch = make_batch(source, 1, 0, 2);
  zero_gradients(parameters);
  model->forward_backward(batch);
  std::vector<Values> gradients;
  for (const Parameter* p : parameters) {
    gradients.push_back(copy_of<double>(p->grad));
  }
  for (std::size_t n = 0; n < parameters.size(); ++n) {
    const auto value = parameters[n]->value.as<double>();
    for (std::size_t i = 0; i < value.size(); i += 1 + value.size() / 3) {
      const double slope = derivative(value[i], [&] { return model->forward_backward(batch); });
      EXPECT_NEAR(gradients[n][i], slope, 1e-7) << parameters[n]->name << i;
    }
  }
}

TEST(MixtureInGpt, ForgetsAndComputesAgainWithTheSameBits) {
  const auto gradients = [&](Recompute recompute) {
    SingleDevice d;
    GptConfig config = small;
    config.recompute = recompute;
    const auto model = make_gpt(d.device, config, 1);
    const DataSource source{.text = builtin_text(), .sequence = 12, .context = 1};
    model->forward_backward(make_batch(source, 1, 0, 2));
    std::vector<Values> all;
    for (const Parameter* p : flatten(model->layers())) {
      all.push_back(copy_of<double>(p->grad));
    }
    EXPECT_EQ(routers_of(*model)[0]->tokens, 24) << "a recomputed token counts once";
    return all;
  };
  EXPECT_EQ(gradients(Recompute::full), gradients(Recompute::none));
}

TEST(MixtureInGpt, IsRefusedWithTheNumbers) {
  SingleDevice d;
  const auto refusal = [&](std::size_t top_k, RouterConfig router) {
    GptConfig config = small;
    config.top_k = top_k;
    config.router = router;
    try {
      make_gpt(d.device, config, 1);
    } catch (const BadUse& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(5, {}), "top_k = 5 experts cannot be chosen of 4: top_k may be 1 to 4");
  EXPECT_EQ(refusal(2, {.groups = 3}),
            "experts = 4 cannot be cut into 3 groups: router_groups must divide the experts");
  EXPECT_EQ(refusal(2, {.groups = 2, .top_groups = 3}),
            "router_top_groups = 3 of router_groups = 2: it may be 0 (no limit) to 2");
  EXPECT_EQ(refusal(2, {.hot = 5}), "hot = 5 of experts = 4: it may be 0 to 4");
  EXPECT_EQ(refusal(3, {.groups = 2, .top_groups = 1}),
            "a token that goes to 1 of 2 groups chooses among 2 experts, but top_k is 3 and there "
            "are 4 experts");
}

}  // namespace
}  // namespace ringside
