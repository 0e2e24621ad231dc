// Experts without data: case M4, and DeepSeek-V3's own.
#include <gtest/gtest.h>

#include "models/gpt.hpp"
#include "models/meta_layer.hpp"
#include "parallel/expert/expert_parallel.hpp"
#include "parallel/mesh.hpp"
#include "parallel/tensor_parallel.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

struct Held {
  std::int64_t rows = 0;  // of experts, in the only layer
  std::int64_t weights = 0;
  std::int64_t activations = 0;
};

std::vector<Held> run(int ep, std::size_t hot) {
  const GptConfig config{.layers = 1,
                         .hidden = 1024,
                         .heads = 16,
                         .kv_heads = 16,
                         .ffn = 512,
                         .experts = 64,
                         .top_k = 8,
                         .router = {.hot = hot}};
  const MeshShape shape{.tp = 2, .dp = 8};
  return run_ranks_tested(shape.ranks(), {.memory = Backing::meta}, [&](Rank& rank) {
    const Mesh mesh(shape, rank.id());
    Comm tp_group(rank, "tp", mesh.members({Axis::tp}));
    Comm ep_group(rank, "ep", expert_group(mesh, ep));
    TensorParallel tp(tp_group, rank.memory(), config, {.sequence = true});
    ExpertParallel experts(ep_group, rank.memory(), Placement(config.experts, ep),
                           {.routing_group = &tp_group, .places = {.cut = {tp_group.rank(), 2}}});
    const auto model =
        make_gpt({rank.memory(), rank.clock()}, config, 1,
                 {.cut = tp.cut(), .seam = tp.seam(), .dispatch = experts.dispatch()});
    Held held;
    const auto layers = model->layers();
    for (const Parameter* p : layers[1]) {
      held.weights += p->expert ? static_cast<std::int64_t>(p->value.count()) : 0;
    }
    const Batch batch = meta_batch(2048);
    Saved saved{.sequences = make_sequences(batch.lengths)};
    const Tensor x(rank.memory(), DType::f32, {1024, 1024}, Category::activations, "x");
    const auto before = rank.memory().ledger().current;
    const Tensor y = model->layer(1).forward(x, saved);
    const auto activations = static_cast<std::size_t>(Category::activations);
    held.activations = rank.memory().ledger().current[activations] - before[activations];
    for (const Saved& part : saved.parts.at(3).parts) {
      held.rows += part.tensors.empty() || part.tensors[0].shape().back() != 1024
                       ? 0
                       : static_cast<std::int64_t>(part.tensors[0].shape().front());
    }
    held.rows -= 1024;  // the router's own part
    return held;
  });
}

TEST(CaseM4, BalancedTokensOfARankDoNotDependOnEp) {
  const auto alone = run(1, 0);
  const auto spread = run(8, 0);
  for (std::size_t r = 0; r < alone.size(); ++r) {
    EXPECT_EQ(alone[r].rows, 8 * 2048 / 2);
    EXPECT_EQ(spread[r].rows, 8 * 2048 / 2);
    EXPECT_EQ(alone[r].weights, 64 * 3 * 1024 * 512);
    EXPECT_EQ(spread[r].weights, 8 * 3 * 1024 * 512);
    EXPECT_EQ(alone[r].activations, spread[r].activations);
  }
}

// The worst routing: every token of the group to the eight experts of one rank.
TEST(CaseM4, TheWorstRoutingIsApart) {
  const auto worst = run(8, 8);
  for (std::size_t r = 0; r < worst.size(); ++r) {
    EXPECT_EQ(worst[r].rows, r < 2 ? 8 * 8 * 2048 / 2 : 0) << r;
  }
}

}  // namespace
}  // namespace ringside
