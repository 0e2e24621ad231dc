// A GPT that is cut over ranks: its parts are parts of the whole, and sewn together it computes
// what the whole computes.
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "models/gpt.hpp"
#include "models/text.hpp"
#include "models/training.hpp"
#include "tests/models/ranks_in_one_process.hpp"

namespace ringside {
namespace {

const DataSource source{.text = builtin_text(), .sequence = 9, .context = 1};

constexpr GptConfig config{.layers = 2,
                           .hidden = 12,
                           .heads = 4,
                           .kv_heads = 2,
                           .head_dim = 4,
                           .ffn = 8,
                           .vocab = 257,  // divided by no number of ranks
                           .dtype = DType::f64};

// ---- Shares -------------------------------------------------------------------------------------

TEST(GptShares, TileHeadsColumnsAndThePaddedVocabulary) {
  const GptShare last = share_of(config, {.rank = 3, .ranks = 4});
  EXPECT_EQ(last.heads.first, 3U);
  EXPECT_EQ(last.heads.count, 1U);
  EXPECT_EQ(last.kv_heads.first, 1U);  // copied: ranks 0 and 1 have head 0, 2 and 3 head 1
  EXPECT_EQ(last.kv_heads.count, 1U);
  EXPECT_EQ(last.kv_copies, 2);
  EXPECT_EQ(share_of(config, {.rank = 1, .ranks = 4}).kv_heads.first, 0U);
  EXPECT_EQ(last.ffn.first, 6U);
  EXPECT_EQ(last.vocab.first, 195U);  // 260 rows over 4
  EXPECT_EQ(last.vocab.count, 65U);
  EXPECT_EQ(last.real, 62U);
  EXPECT_EQ(share_of(config, {.rank = 1, .ranks = 2}).kv_copies, 1);
}

TEST(GptShares, MayHoldPaddingOnly) {
  GptConfig five = config;
  five.vocab = 5;
  EXPECT_EQ(share_of(five, {.rank = 2, .ranks = 4}).real, 1U);
  EXPECT_EQ(share_of(five, {.rank = 3, .ranks = 4}).real, 0U);
}

// The elements of `whole` where `part` lies; 0 for padding.
std::vector<double> slice(const Parameter& whole, const Parameter& part) {
  const auto& shape = part.value.shape();
  const Layout& layout = part.layout;
  const std::size_t cols = whole.value.shape().back();
  const std::size_t rows = shape.size() == 1 ? 1 : whole.value.shape().front();
  std::vector<double> elements;
  for (std::size_t i = 0; i < part.value.count(); ++i) {
    const std::size_t row = i / shape.back() + (layout.dimension == 0 ? layout.first : 0);
    const std::size_t col = i % shape.back() + (layout.dimension == 1 ? layout.first : 0);
    elements.push_back(row < rows && col < cols ? whole.value.as<double>()[row * cols + col] : 0);
  }
  return elements;
}

TEST(GptCut, ARanksPartsHaveTheBitsOfTheWhole) {
  SingleDevice d;
  const auto whole = make_gpt(d.device, config, 7);
  std::map<std::string, Parameter*> by_name;
  for (Parameter* p : flatten(whole->layers())) {
    by_name[p->name] = p;
    EXPECT_EQ(p->layout.whole, p->value.shape());
    EXPECT_EQ(p->layout.dimension, -1);
  }
  for (const int ranks : {2, 4}) {
    for (int rank = 0; rank < ranks; ++rank) {
      SingleDevice own;
      const auto cut = make_gpt(own.device, config, 7, {.cut = {rank, ranks}});
      for (const Parameter* p : flatten(cut->layers())) {
        EXPECT_EQ(copy_of<double>(p->value), slice(*by_name.at(p->name), *p)) << p->name;
        EXPECT_EQ(p->layout.whole, by_name.at(p->name)->value.shape()) << p->name;
      }
    }
  }
}

TEST(GptCut, AParameterKnowsWhereItLiesAndHowOftenItIsHeld) {
  SingleDevice d;
  const auto cut = make_gpt(d.device, config, 7, {.cut = {.rank = 3, .ranks = 4}});
  const auto layers = cut->layers();
  const auto& block = layers[1];
  EXPECT_EQ(block[0]->layout.copies, 4);  // the norm
  EXPECT_EQ(block[0]->layout.dimension, -1);
  EXPECT_FALSE(block[0]->layout.partial_gradient);
  EXPECT_EQ(block[1]->layout.dimension, 1);  // q
  EXPECT_EQ(block[1]->layout.first, 12U);
  EXPECT_EQ(block[1]->layout.copies, 1);
  EXPECT_EQ(block[2]->layout.first, 4U);  // k: head 1, on ranks 2 and 3
  EXPECT_EQ(block[2]->layout.copies, 2);
  EXPECT_TRUE(block[2]->layout.partial_gradient);
  EXPECT_EQ(block[4]->layout.dimension, 0);  // o
  EXPECT_EQ(block[4]->layout.first, 12U);
  EXPECT_EQ(layers[0][0]->layout.first, 195U);
  EXPECT_EQ(real_extent(*layers[0][0]), 62U);
  EXPECT_EQ(real_extent(*block[0]), 12U);
}

// ---- Sewn together ------------------------------------------------------------------------------

struct Trained {
  double loss = 0;
  std::map<std::string, std::vector<double>> gradients{};  // whole
};

Trained alone(const GptConfig& c, const Batch& batch) {
  SingleDevice d;
  const auto model = make_gpt(d.device, c, 7);
  Trained seen{.loss = model->forward_backward(batch)};
  for (const Parameter* p : flatten(model->layers())) {
    seen.gradients[p->name] = copy_of<double>(p->grad);
  }
  return seen;
}

// Puts a rank's gradient into the whole one: copies add up when each has a part. With sequence
// parallelism, the copies of norms have parts too.
void gather(Trained& whole, const Parameter& part, bool add_copies) {
  const Layout& layout = part.layout;
  const auto& shape = part.value.shape();
  const std::size_t cols = layout.whole.back();
  const std::size_t rows = shape.size() == 1 ? 1 : layout.whole.front();
  auto& to = whole.gradients[part.name];
  to.resize(rows * cols);
  for (std::size_t i = 0; i < part.grad.count(); ++i) {
    const std::size_t row = i / shape.back() + (layout.dimension == 0 ? layout.first : 0);
    const std::size_t col = i % shape.back() + (layout.dimension == 1 ? layout.first : 0);
    if (row >= rows || col >= cols) {
      EXPECT_EQ(part.grad.as<double>()[i], 0) << part.name << ": padding learns";
    } else if (layout.dimension >= 0 || add_copies) {
      to[row * cols + col] += part.grad.as<double>()[i];
    }
  }
}

template <class SeamKind = SummingSeam>
Trained in_parts(const GptConfig& c, const Batch& batch, int ranks) {
  std::vector<std::unique_ptr<Model>> models(static_cast<std::size_t>(ranks));
  Trained seen;
  std::mutex mutex;
  run_cut<SeamKind>(ranks, [&](int rank, SingleDevice& d, std::shared_ptr<Seam> seam) {
    auto& model = models[static_cast<std::size_t>(rank)];
    model = make_gpt(d.device, c, 7, {.cut = {rank, ranks}, .seam = seam});
    const double loss = model->forward_backward(batch);
    const std::lock_guard lock(mutex);
    seen.loss = loss;
    for (const Parameter* p : flatten(model->layers())) {
      gather(seen, *p, rank == 0 || std::is_same_v<SeamKind, SequenceSeam>);
    }
    model.reset();
  });
  return seen;
}

void expect_equal(const Trained& whole, const Trained& parts) {
  EXPECT_NEAR(parts.loss, whole.loss, 1e-12 * whole.loss);
  ASSERT_EQ(parts.gradients.size(), whole.gradients.size());
  for (const auto& [name, grad] : whole.gradients) {
    EXPECT_LT(relative_difference(grad, parts.gradients.at(name)), 1e-12) << name;
  }
}

TEST(GptCutThreads, ComputesWhatTheWholeComputes) {
  const Batch batch = make_batch(source, 0, 0, 3);
  for (const bool tied : {false, true}) {
    for (const Recompute recompute : {Recompute::none, Recompute::full}) {
      GptConfig c = config;
      c.tied = tied;
      c.recompute = recompute;
      const Trained whole = alone(c, batch);
      for (const int ranks : {2, 4}) {
        expect_equal(whole, in_parts(c, batch, ranks));
      }
    }
  }
}

// 45 tokens: a number that 2 and 4 do not divide.
TEST(GptCutThreads, ComputesTheSameWithAPartOfTheTokensOutsideTheSeams) {
  const Batch batch = make_batch(source, 0, 0, 3);
  ASSERT_EQ(batch.tokens(), 45);
  for (const bool tied : {false, true}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      GptConfig c = config;
      c.tied = tied;
      c.recompute = recompute;
      const Trained whole = alone(c, batch);
      for (const int ranks : {2, 4}) {
        expect_equal(whole, in_parts<SequenceSeam>(c, batch, ranks));
      }
    }
  }
}

// Half of the seams left open: what the ranks hold is not summed, and it shows.
TEST(GptCutThreads, WithoutItsSeamComputesSomethingElse) {
  const Batch batch = make_batch(source, 0, 0, 3);
  const Trained whole = alone(config, batch);
  SingleDevice d;
  const auto part = make_gpt(d.device, config, 7, {.cut = {.rank = 0, .ranks = 2}});
  EXPECT_GT(std::abs(part->forward_backward(batch) - whole.loss), 1e-3);
}

// Case H1: padding counts in no softmax.
TEST(GptCutThreads, CaseH1LossOfEqualLogitsIsOfTheRealTokensOnly) {
  std::vector<double> losses(4);
  std::vector<std::vector<double>> grads(4);
  run_cut(4, [&](int rank, SingleDevice& d, std::shared_ptr<Seam> seam) {
    const auto r = static_cast<std::size_t>(rank);
    const GptShare share = share_of({.vocab = 10}, {rank, 4});
    const Tensor logits(d.memory, DType::f64, {1, share.vocab.count}, Category::activations, "l");
    const std::vector<std::int32_t> targets{9};  // in the last, short shard
    const auto sum = cross_entropy<double>(d.device, logits, targets,
                                           {share.vocab.first, share.real, 10}, *seam);
    losses[r] = sum.loss;
    grads[r] = copy_of<double>(sum.grad);
  });
  for (const double loss : losses) {
    EXPECT_NEAR(loss, std::log(10.0), 1e-15);
  }
  EXPECT_NEAR(grads[0][0], 0.1, 1e-15);
  EXPECT_NEAR(grads[3][0], -0.9, 1e-15);
  EXPECT_EQ(grads[3][1], 0);
  EXPECT_EQ(grads[3][2], 0);
}

}  // namespace
}  // namespace ringside
