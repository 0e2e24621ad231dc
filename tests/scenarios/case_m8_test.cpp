// Case M8: no plan is offered that the runner refuses, and none is refused that it takes.
#include <gtest/gtest.h>

#include "models/random.hpp"
#include "parallel/mesh_plan.hpp"
#include "runtime/errors.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/overrides.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {
namespace {

// Numbers out of a seed, one after the other.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : state_(seed) {}

  int of(std::initializer_list<int> choices) {
    state_ = mix(state_);
    return choices.begin()[state_ % choices.size()];
  }

 private:
  std::uint64_t state_;
};

Settings drawn(std::uint64_t seed) {
  Draw draw(seed);
  Settings s;
  auto& p = s.parallel;
  p.tp = draw.of({1, 1, 2, 3, 4, 7});
  p.cp = draw.of({1, 1, 2, 3, 7, 8});
  p.pp = draw.of({1, 1, 2, 4, 7});
  p.dp = draw.of({1, 2, 4});
  p.ep = draw.of({1, 1, 1, 2, 3});
  p.sp = draw.of({0, 1}) == 1;
  p.zero = draw.of({0, 1, 3});
  p.cp_form = draw.of({0, 1}) == 1 ? "ulysses" : "ring";
  const auto names = schedule_names();
  p.schedule = names[static_cast<std::size_t>(draw.of({0, 1, 2, 3, 4, 5, 6, 7}))];
  p.chunks = draw.of({1, 1, 2});
  p.microbatches = draw.of({1, 2, 4, 6, 8, 16});
  s.model.kind = "gpt";
  s.model.heads = draw.of({4, 28});
  s.model.kv_heads = draw.of({1, 2, 4});
  s.model.hidden = 56;
  s.model.ffn = draw.of({24, 28});
  s.model.layers = draw.of({6, 16});
  s.model.experts = draw.of({0, 0, 8});
  s.train.batch = draw.of({1, 8, 16, 30});
  s.ranks = p.tp * p.cp * p.pp * p.dp;
  s.cluster.nodes = (s.ranks + s.cluster.gpus_per_node - 1) / s.cluster.gpus_per_node;
  return s;
}

template <class Act>
std::string refusal(Act act) {
  try {
    act();
    return "";
  } catch (const BadUse& refused) {
    return refused.what();
  }
}

TEST(CaseM8, ThePlannerAndTheRunnerTakeTheSamePlans) {
  int taken = 0;
  int refused = 0;
  for (std::uint64_t seed = 0; seed < 20000; ++seed) {
    Settings s = drawn(seed);
    const std::string planner = refusal([&] {
      require_usable(mesh_plan_of(s), std::get<GptConfig>(model_of(s)), s.ranks,
                     static_cast<std::size_t>(s.model.experts));
    });
    const std::string runner = refusal([&] { resolve(s); });
    EXPECT_EQ(planner.empty(), runner.empty())
        << "seed " << seed << "\nplanner: " << planner << "\nrunner: " << runner;
    (runner.empty() ? taken : refused) += 1;
  }
  EXPECT_GT(taken, 500);
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace ringside
