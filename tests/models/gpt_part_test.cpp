// Stages of a GPT, run one after the other, are the whole GPT, bit for bit.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "models/gpt.hpp"
#include "models/text.hpp"
#include "models/training.hpp"
#include "runtime/errors.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

const DataSource source{.text = builtin_text(), .sequence = 9, .context = 1};

GptConfig config_of(bool tied) {
  return {.layers = 3,
          .hidden = 12,
          .heads = 4,
          .kv_heads = 2,
          .head_dim = 4,
          .ffn = 8,
          .vocab = 257,
          .tied = tied};
}

using Gradients = std::map<std::string, std::vector<float>>;

// The tied table's two gradients are added: the head's, then the embedding's.
void collect(Model& model, Gradients& all) {
  for (const Parameter* p : flatten(model.layers())) {
    const std::vector<float> own = copy_of<float>(p->grad);
    auto [at, first] = all.emplace(p->name, own);
    for (std::size_t i = 0; !first && i < own.size(); ++i) {
      at->second[i] += own[i];
    }
  }
}

struct Pass {
  double loss = 0;
  Gradients gradients{};
};

Pass whole(const GptConfig& config, const Batch& batch) {
  SingleDevice d;
  const auto model = make_gpt(d.device, config, 3);
  Pass pass{.loss = model->forward_backward(batch)};
  collect(*model, pass.gradients);
  return pass;
}

Pass in_stages(const GptConfig& config, const Batch& batch,
               const std::vector<std::size_t>& layers_of_stages) {
  SingleDevice d;
  std::vector<std::unique_ptr<Model>> stages;
  std::vector<std::vector<Saved>> saved;
  std::size_t first = 0;
  for (const std::size_t count : layers_of_stages) {
    std::vector<std::size_t> layers(count);
    std::iota(layers.begin(), layers.end(), first);
    stages.push_back(make_gpt(d.device, config, 3, {.layers = layers}));
    saved.emplace_back(count, Saved{.sequences = make_sequences(batch.lengths)});
    first += count;
  }
  Tensor x = stages.front()->input_of(batch);
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (std::size_t i = 0; i < saved[s].size(); ++i) {
      x = stages[s]->layer(i).forward(x, saved[s][i]);
    }
  }
  auto [loss, grad] = stages.back()->loss(x, batch);
  Pass pass{.loss = loss};
  for (std::size_t s = stages.size(); s-- > 0;) {
    for (std::size_t i = saved[s].size(); i-- > 0;) {
      grad = stages[s]->layer(i).backward_input(grad, saved[s][i]);
      stages[s]->layer(i).backward_weight(saved[s][i]);
    }
    collect(*stages[s], pass.gradients);
  }
  return pass;
}

TEST(GptPart, StagesInTurnHaveTheBitsOfTheWhole) {
  const Batch batch = make_batch(source, 0, 0, 3);
  for (const bool tied : {false, true}) {
    const Pass expected = whole(config_of(tied), batch);
    for (const auto& cut : {std::vector<std::size_t>{3, 3}, {1, 1, 1, 1, 1, 1}, {2, 4}}) {
      const Pass pass = in_stages(config_of(tied), batch, cut);
      EXPECT_EQ(pass.loss, expected.loss);
      EXPECT_EQ(pass.gradients, expected.gradients) << "tied " << tied;
    }
  }
}

TEST(GptPart, ATiedHeadAloneHasACopyOfTheTable) {
  SingleDevice d;
  const auto embed = make_gpt(d.device, config_of(true), 3, {.layers = {0}});
  const auto head = make_gpt(d.device, config_of(true), 3, {.layers = {5}});
  const Parameter& table = *flatten(embed->layers()).front();
  const Parameter& copy = *flatten(head->layers()).front();
  EXPECT_EQ(copy.name, table.name);
  EXPECT_TRUE(copy.copy);
  EXPECT_FALSE(table.copy);
  EXPECT_EQ(copy_of<float>(copy.value), copy_of<float>(table.value));
}

TEST(GptPart, LayersThatAreNotThereAreRefused) {
  SingleDevice d;
  EXPECT_THROW(make_gpt(d.device, config_of(false), 3, {.layers = {6}}), BadUse);
  EXPECT_NO_THROW(make_gpt(d.device, config_of(false), 3, {.layers = {2, 5}}));
}

}  // namespace
}  // namespace ringside
