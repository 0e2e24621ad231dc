// The whole GPT in one process: parameters, gradients, what a token sees, ties, recompute, bits.
#include "models/gpt.hpp"

#include <gtest/gtest.h>

#include <map>

#include "models/gpt_activations.hpp"
#include "models/text.hpp"
#include "models/training.hpp"
#include "runtime/errors.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

constexpr GptConfig small{.layers = 2,
                          .hidden = 12,
                          .heads = 2,
                          .kv_heads = 1,
                          .ffn = 10,
                          .vocab = 256,
                          .dtype = DType::f64};
const DataSource source{.text = builtin_text(), .sequence = 12, .context = 1};

class Gpt {
 public:
  explicit Gpt(const GptConfig& config = small)
      : model(make_gpt(d.device, config, 1)), parameters(flatten(model->layers())) {}

  double run(const Batch& batch) { return model->forward_backward(batch); }

  template <class T = double>
  std::map<std::string, std::vector<T>> gradients_of(const Batch& batch) {
    for (const Parameter* p : parameters) {
      std::ranges::fill(p->grad.as<T>(), 0);
    }
    run(batch);
    std::map<std::string, std::vector<T>> all;
    for (const Parameter* p : parameters) {
      all[p->name] = copy_of<T>(p->grad);
    }
    return all;
  }

  // [tokens, vocab]
  std::vector<double> logits_of(const Batch& batch) {
    Tensor x = model->input_of(batch);
    for (std::size_t i = 0; i < model->layer_count(); ++i) {
      Saved saved{.sequences = make_sequences(batch.lengths)};
      x = model->layer(i).forward(x, saved);
    }
    return copy_of<double>(x);
  }

  SingleDevice d;
  std::unique_ptr<Model> model;
  std::vector<Parameter*> parameters;
};

TEST(Gpt, NamesItsParametersByLayer) {
  GptConfig config = small;
  config.layers = 1;
  for (const bool tied : {false, true}) {
    config.tied = tied;
    Gpt gpt(config);
    std::vector<std::vector<std::string>> names;
    std::vector<std::vector<std::size_t>> counts;
    for (const auto& layer : gpt.model->layers()) {
      names.emplace_back();
      counts.emplace_back();
      for (const Parameter* p : layer) {
        names.back().push_back(p->name);
        counts.back().push_back(p->value.count());
      }
    }
    EXPECT_EQ(
        names,
        (std::vector<std::vector<std::string>>{
            {"embed.weight"},
            {"layers.0.norm1.weight", "layers.0.attention.q.weight", "layers.0.attention.k.weight",
             "layers.0.attention.v.weight", "layers.0.attention.o.weight", "layers.0.norm2.weight",
             "layers.0.mlp.gate.weight", "layers.0.mlp.up.weight", "layers.0.mlp.down.weight"},
            {"final_norm.weight"},
            tied ? std::vector<std::string>{} : std::vector<std::string>{"head.weight"}}));
    EXPECT_EQ(counts, tensor_counts(config));
    EXPECT_EQ(gpt.model->layer(1).name(), "layers.0");
  }
}

TEST(Gpt, GradientIsTheDerivativeOfTheTokenSum) {
  for (const bool tied : {false, true}) {
    GptConfig config = small;
    config.tied = tied;
    Gpt gpt(config);
    const Batch batch = make_batch(source, 1, 0, 2);
    const auto gradients = gpt.gradients_of(batch);
    for (const Parameter* p : gpt.parameters) {
      const auto& grad = gradients.at(p->name);
      std::vector<double> seen;
      std::vector<double> slopes;
      const std::size_t stride = 1 + p->value.count() / 40;
      for (std::size_t i = 0; i < p->value.count(); i += stride) {
        seen.push_back(grad[i]);
        slopes.push_back(derivative(p->value.as<double>()[i], [&] { return gpt.run(batch); }));
      }
      EXPECT_LT(relative_difference(slopes, seen), 1e-6) << p->name;
    }
  }
}

TEST(Gpt, SeesNothingLaterAndNoOtherSample) {
  Gpt gpt;
  Batch batch = make_batch(source, 1, 0, 3);
  const auto before = gpt.logits_of(batch);
  const std::size_t changed = 12 + 5;  // in the second sample
  batch.contexts[changed] = 200;
  const auto after = gpt.logits_of(batch);
  for (std::size_t t = 0; t < 36; ++t) {
    const auto row = [t](const std::vector<double>& logits) {
      return std::vector(logits.begin() + static_cast<std::ptrdiff_t>(t * 256),
                         logits.begin() + static_cast<std::ptrdiff_t>((t + 1) * 256));
    };
    const bool may_see = t >= changed && t < 24;
    EXPECT_EQ(row(before) == row(after), !may_see) << t;
  }
}

TEST(Gpt, PositionsBeginAnewInEverySample) {
  Gpt gpt;
  const Batch one = make_batch(source, 1, 4, 1);
  Batch two = make_batch(source, 1, 3, 2);
  const auto alone = gpt.logits_of(one);
  const auto second = gpt.logits_of(two);
  double difference = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    difference = std::max(difference, std::abs(alone[i] - second[second.size() / 2 + i]));
  }
  EXPECT_LT(difference, 1e-13);
  two.lengths = {24};  // the same tokens as one sample
  const auto joined = gpt.logits_of(two);
  EXPECT_GT(std::abs(joined.back() - second.back()), 1e-6);
}

TEST(Gpt, GradientOfABatchIsTheSumOverItsSamples) {
  Gpt gpt;
  const auto whole = gpt.gradients_of(make_batch(source, 0, 0, 3));  // of unequal lengths
  std::map<std::string, std::vector<double>> sum;
  for (std::uint64_t i = 0; i < 3; ++i) {
    for (const auto& [name, grad] : gpt.gradients_of(make_batch(source, 0, i, 1))) {
      auto& to = sum[name];
      to.resize(grad.size());
      std::ranges::transform(to, grad, to.begin(), std::plus<>());
    }
  }
  for (const auto& [name, grad] : whole) {
    EXPECT_LT(relative_difference(grad, sum.at(name)), 1e-12) << name;
  }
}

// With the same numbers in both tables, the tied gradient is the sum of the two, head's first.
TEST(Gpt, TiedGradientIsTheHeadsPlusTheEmbeddings) {
  GptConfig tied_config = small;
  tied_config.tied = true;
  tied_config.dtype = DType::f32;
  GptConfig config = tied_config;
  config.tied = false;
  Gpt tied(tied_config);
  Gpt untied(config);
  std::ranges::copy(untied.parameters.front()->value.as<float>(),
                    untied.parameters.back()->value.as<float>().begin());
  const Batch batch = make_batch(source, 1, 0, 3);
  const auto both = untied.gradients_of<float>(batch);
  std::vector<float> sum = both.at("head.weight");
  std::ranges::transform(sum, both.at("embed.weight"), sum.begin(), std::plus<>());
  EXPECT_EQ(tied.gradients_of<float>(batch).at("embed.weight"), sum);
  EXPECT_NE(both.at("embed.weight"), sum);
}

// Over micro-batches each adds its own two, so the order is ((head 1 + embedding 1) + head 2) +
// embedding 2, and not (head 1 + head 2) + (embedding 1 + embedding 2).
TEST(Gpt, TiedGradientsOfMicrobatchesAreAddedOneMicrobatchAfterTheOther) {
  GptConfig tied_config = small;
  tied_config.tied = true;
  tied_config.dtype = DType::f32;
  GptConfig config = tied_config;
  config.tied = false;
  Gpt tied(tied_config);
  Gpt untied(config);
  std::ranges::copy(untied.parameters.front()->value.as<float>(),
                    untied.parameters.back()->value.as<float>().begin());
  const Batch first = make_batch(source, 1, 0, 3);
  const Batch second = make_batch(source, 2, 0, 3);
  const auto one = untied.gradients_of<float>(first);
  const auto two = untied.gradients_of<float>(second);
  tied.gradients_of<float>(first);
  tied.run(second);
  const auto seen = copy_of<float>(tied.parameters.front()->grad);
  std::vector<float> in_turn;
  std::vector<float> by_layer;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const float head_1 = one.at("head.weight")[i];
    const float head_2 = two.at("head.weight")[i];
    const float embedding_1 = one.at("embed.weight")[i];
    const float embedding_2 = two.at("embed.weight")[i];
    in_turn.push_back(((head_1 + embedding_1) + head_2) + embedding_2);
    by_layer.push_back((head_1 + head_2) + (embedding_1 + embedding_2));
  }
  EXPECT_EQ(seen, in_turn);
  EXPECT_NE(seen, by_layer);
}

TEST(Gpt, NoTokensLeaveGradientsAsTheyAre) {
  Gpt gpt;
  EXPECT_EQ(gpt.run(Batch{}), 0);
  for (const auto& [name, grad] : gpt.gradients_of(Batch{})) {
    EXPECT_EQ(grad, std::vector<double>(grad.size(), 0)) << name;
  }
}

TEST(Gpt, HasTheSameBitsAtEveryAddress) {
  for (const std::size_t sequence : {1U, 2U, 7U, 12U, 33U}) {
    GptConfig config = small;
    config.dtype = DType::f32;
    config.heads = 3;
    config.ffn = 7;
    DataSource data = source;
    data.sequence = sequence;
    const Batch batch = make_batch(data, 1, 0, 3);
    Gpt gpt(config);
    const auto truth = gpt.gradients_of<float>(batch);
    std::size_t count = 1;
    for (const Parameter* p : gpt.parameters) {
      count += p->value.count();
    }
    const Tensor bucket(gpt.d.memory, DType::f32, {count}, Category::gradients, "bucket");
    const Tensor weights(gpt.d.memory, DType::f32, {count}, Category::weights, "weights");
    std::size_t first = 1;
    for (Parameter* p : gpt.parameters) {
      const Tensor moved = weights.view(first, p->value.shape(), p->name);
      std::ranges::copy(p->value.as<float>(), moved.as<float>().begin());
      p->value = moved;
      p->grad = bucket.view(first, p->value.shape(), p->name);
      first += p->value.count();
    }
    EXPECT_EQ(gpt.gradients_of<float>(batch), truth) << sequence;
  }
}

// ---- Recompute ----------------------------------------------------------------------------------

struct Recomputed {
  std::map<std::string, std::vector<float>> gradients{};
  std::int64_t peak = 0;
  std::map<std::string, std::int64_t> charges{};  // by the last word of the label
};

Recomputed run_with(Recompute recompute) {
  GptConfig config{.layers = 4, .dtype = DType::f32, .recompute = recompute};
  DataSource data = source;
  data.sequence = 64;
  Gpt gpt(config);
  Recomputed seen{.gradients = gpt.gradients_of<float>(make_batch(data, 1, 0, 4)),
                  .peak = gpt.d.peak(Category::activations)};
  EXPECT_EQ(gpt.d.held(Category::activations), 0);
  for (const auto& [label, operations] : gpt.d.charges) {
    seen.charges[label.substr(label.rfind(' ') + 1)] += operations;
  }
  return seen;
}

TEST(GptRecompute, ChangesNoGradientBitAndLowersThePeak) {
  const auto none = run_with(Recompute::none);
  const auto selective = run_with(Recompute::selective);
  const auto full = run_with(Recompute::full);
  EXPECT_EQ(selective.gradients, none.gradients);
  EXPECT_EQ(full.gradients, none.gradients);
  EXPECT_LT(selective.peak, none.peak);
  EXPECT_LT(full.peak, selective.peak);
}

TEST(GptRecompute, ChargesWhatItComputesAgain) {
  const auto none = run_with(Recompute::none);
  const auto selective = run_with(Recompute::selective);
  const auto full = run_with(Recompute::full);
  const std::int64_t tokens = 4 * 64;
  const std::int64_t head = 2 * tokens * 256 * 64;
  const std::int64_t scores = 4 * 2 * 64 * (4 * 64 * 65 / 2);  // layers, 2 x width, pairs
  EXPECT_EQ(none.charges.count("recompute"), 0U);
  EXPECT_EQ(selective.charges.at("recompute"), scores);
  EXPECT_EQ(full.charges.at("recompute"), none.charges.at("forward") - head);
  EXPECT_EQ(full.charges.at("forward"), none.charges.at("forward"));
  EXPECT_EQ(full.charges.at("gradient"), none.charges.at("gradient"));
}

// What is held before the layers from the first block on.
std::vector<std::int64_t> held_before_layers(const GptConfig& config, const Batch& batch) {
  struct Journal : LayerHooks {
    explicit Journal(SingleDevice& device) : d(device) {}

    void before_forward(std::size_t layer) override {
      if (layer > 0) {
        held.push_back(d.held(Category::activations));
      }
    }

    SingleDevice& d;
    std::vector<std::int64_t> held;
  };

  Gpt gpt(config);
  Journal journal(gpt.d);
  gpt.model->forward_backward(batch, journal);
  return journal.held;
}

TEST(GptActivations, AreWhatTheFormulaSays) {
  const Batch batch = make_batch(source, 0, 0, 2);  // 27 and 12 tokens
  for (const DType dtype : {DType::f32, DType::f64, DType::bf16}) {
    for (const Recompute recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      const GptConfig config{.layers = 3, .dtype = dtype, .recompute = recompute};
      const auto held = held_before_layers(config, batch);
      ASSERT_EQ(held.size(), 5U);  // the blocks, the norm and the head
      for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(held[i + 1] - held[i], block_activations(config, batch.lengths)) << i;
      }
    }
  }
}

// With full recomputation a block holds its input and nothing else.
TEST(GptActivations, AreInNumbers) {
  const std::vector<std::size_t> lengths{27, 12};
  EXPECT_EQ(block_activations({.recompute = Recompute::full}, lengths), 39 * 64 * 4);
  EXPECT_EQ(block_activations({.recompute = Recompute::selective}, lengths),
            39 * (4 * 64 + 2 * 64 + 2 * 32 + 2 * 172) * 4);
  EXPECT_EQ(block_activations({}, lengths),
            (39 * (4 * 64 + 2 * 64 + 2 * 32 + 2 * 172) + 4 * (27 * 27 + 12 * 12)) * 4);
  EXPECT_EQ(block_activations({}, lengths, {.rank = 0, .ranks = 2}),
            (39 * (4 * 64 + 64 + 32 + 172) + 2 * (27 * 27 + 12 * 12)) * 4);
}

// ---- Refusals (case H3) -------------------------------------------------------------------------

std::string refusal(const GptConfig& config, int ranks = 1) {
  try {
    require_usable(config, ranks);
  } catch (const BadUse& e) {
    return e.what();
  }
  return "";
}

TEST(GptConfigCaseH3, IsRefusedWithTheNumbersAndWhatWouldDo) {
  EXPECT_EQ(refusal({.hidden = 120, .heads = 10, .kv_heads = 2}, 4),
            "heads = 10 cannot be divided over 4 tensor-parallel ranks: the ranks may be 1, 2, "
            "or heads 8 or 12");
  EXPECT_EQ(refusal({.hidden = 48, .heads = 12, .kv_heads = 5}),
            "heads = 12 cannot be shared by kv_heads = 5: kv_heads may be 1, 2, 3, 4, 6, 12, or "
            "heads 10 or 15");
  EXPECT_EQ(refusal({.hidden = 30, .heads = 4}),
            "hidden = 30 cannot be divided over heads = 4: give head_dim, or make hidden 28 or 32");
  EXPECT_EQ(refusal({.hidden = 30, .heads = 4, .head_dim = 8}), "");
  EXPECT_EQ(refusal({.hidden = 60, .heads = 4}),
            "head_dim = 15 (hidden = 60 / heads = 4) is odd, but rotary positions turn pairs: make "
            "it 14 or 16");
  EXPECT_EQ(refusal({.heads = 4, .kv_heads = 4, .ffn = 170}, 4),
            "ffn = 170 cannot be divided over 4 tensor-parallel ranks: the ranks may be 1, 2, or "
            "ffn 168 or 172");
  EXPECT_EQ(refusal({.hidden = 64, .heads = 6, .kv_heads = 3, .head_dim = 4}, 2),
            "kv_heads = 3 can neither be divided over 2 tensor-parallel ranks nor copied evenly: "
            "the ranks may be 1, or kv_heads 2 or 4");
  EXPECT_EQ(refusal({}, 4), "");  // 2 KV heads: each on 2 ranks
  EXPECT_NE(refusal({}, 0), "");
  EXPECT_NE(refusal({.hidden = 0}), "");
  EXPECT_NE(refusal({.dtype = DType::i32}), "");
  EXPECT_EQ(refusal({.dtype = DType::bf16}), "");
}

TEST(GptConfigCaseH3, TheModelRefusesTheSame) {
  SingleDevice d;
  EXPECT_THROW(make_gpt(d.device, {.hidden = 30, .heads = 4}, 1), BadUse);
  EXPECT_THROW(make_gpt(d.device, {.ffn = 170}, 1, {.cut = {.rank = 0, .ranks = 4}}), BadUse);
  EXPECT_THROW(make_gpt(d.device, {}, 1, {.cut = {.rank = 2, .ranks = 2}}), BadUse);
}

}  // namespace
}  // namespace ringside
