// The whole model: gradients, sums over batches, order of layers, ledger, charges.
#include "models/mlp.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "models/text.hpp"
#include "models/training.hpp"
#include "runtime/errors.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

constexpr MlpConfig small{
    .context = 3, .embedding = 4, .hidden = 6, .layers = 2, .dtype = DType::f64};
const DataSource source{.text = builtin_text(), .sequence = 12, .context = 3};

struct Mlp {
  explicit Mlp(const MlpConfig& config = small, std::uint64_t seed = 1)
      : mlp(make_mlp(d.device, config, seed)), parameters(flatten(mlp->layers())) {}

  double run(const Batch& batch) { return mlp->forward_backward(batch); }

  void zero() {
    for (const Parameter* p : parameters) {
      std::fill_n(p->grad.buffer().data, p->grad.bytes(), std::byte{0});
    }
  }

  template <class T = double>
  std::vector<T> gradients() const {
    std::vector<T> all;
    for (const Parameter* p : parameters) {
      const auto grad = p->grad.as<T>();
      all.insert(all.end(), grad.begin(), grad.end());
    }
    return all;
  }

  template <class T = double>
  std::vector<T> gradients_of(const Batch& batch) {
    zero();
    run(batch);
    return gradients<T>();
  }

  SingleDevice d;
  std::unique_ptr<Model> mlp;
  std::vector<Parameter*> parameters;
};

// Calls `done` after each layer's backward.
class WhenDone : public LayerHooks {
 public:
  explicit WhenDone(std::function<void(std::size_t)> done) : done_(std::move(done)) {}

  void after_backward(std::size_t layer) override { done_(layer); }

 private:
  std::function<void(std::size_t)> done_;
};

std::map<std::string, std::vector<double>> values_by_name(const MlpConfig& config,
                                                          std::uint64_t seed) {
  Mlp model(config, seed);
  std::map<std::string, std::vector<double>> values;
  for (const Parameter* p : model.parameters) {
    if (config.dtype == DType::f32) {
      const auto v = p->value.as<float>();
      values[p->name].assign(v.begin(), v.end());
    } else {
      values[p->name] = copy_of<double>(p->value);
    }
  }
  return values;
}

TEST(Mlp, NamesAndShapesItsParametersByLayer) {
  Mlp model;
  std::vector<std::vector<std::string>> names;
  std::vector<std::vector<std::size_t>> counts;
  for (const auto& layer : model.mlp->layers()) {
    names.emplace_back();
    counts.emplace_back();
    for (const Parameter* p : layer) {
      EXPECT_EQ(p->grad.shape(), p->value.shape());
      names.back().push_back(p->name);
      counts.back().push_back(p->value.count());
    }
  }
  EXPECT_EQ(names, (std::vector<std::vector<std::string>>{{"embedding.weight"},
                                                          {"hidden.0.weight", "hidden.0.bias"},
                                                          {"hidden.1.weight", "hidden.1.bias"},
                                                          {"head.weight", "head.bias"}}));
  EXPECT_EQ(counts, (std::vector<std::vector<std::size_t>>{
                        {256 * 4}, {12 * 6, 6}, {6 * 6, 6}, {6 * 256, 256}}));
  EXPECT_EQ(counts, tensor_counts(small));
}

TEST(Mlp, StartsFromSeedAndNameOnly) {
  const auto values = values_by_name(small, 1);
  EXPECT_EQ(values, values_by_name(small, 1));
  EXPECT_NE(values, values_by_name(small, 2));
  EXPECT_NE(values.at("hidden.0.bias"), values.at("hidden.1.bias"));
  MlpConfig deeper = small;
  deeper.layers = 4;
  MlpConfig f32 = small;
  f32.dtype = DType::f32;
  for (const auto& [name, expected] : values) {
    EXPECT_EQ(values_by_name(deeper, 1).at(name), expected) << name;
    EXPECT_EQ(values_by_name(f32, 1).at(name), expected) << name;
  }
}

TEST(Mlp, StartsWithinItsBoundsAndOnTheSameBitsEverywhere) {
  const auto values = values_by_name(small, 1);
  const auto [low, high] =
      std::minmax_element(values.at("head.weight").begin(), values.at("head.weight").end());
  const double bound = 1 / std::sqrt(6.0);
  EXPECT_GE(*low, -bound);
  EXPECT_LT(*low, -0.99 * bound);
  EXPECT_LT(*high, bound);
  EXPECT_GT(*high, 0.99 * bound);
  const double first = uniform(mix(mix(1, "head.bias")));
  EXPECT_EQ(first, -0x1.8268p-9);
  EXPECT_EQ(values.at("head.bias").front(), static_cast<double>(static_cast<float>(first * bound)));
  EXPECT_EQ(mix(0), 0xe220a8397b1dcdafU);  // the first number of SplitMix64 from seed 0
}

TEST(Mlp, GradientIsTheDerivativeOfTheTokenSum) {
  Mlp model;
  const Batch batch = make_batch(source, 1, 0, 2);
  const auto grad = model.gradients_of(batch);
  std::size_t first = 0;  // of this parameter in grad
  for (const Parameter* p : model.parameters) {
    const std::size_t stride = p->value.count() > 100 ? 7 : 1;  // touches every second row of 4
    for (std::size_t i = 0; i < p->value.count(); i += stride) {
      EXPECT_NEAR(grad[first + i],
                  derivative(p->value.as<double>()[i], [&] { return model.run(batch); }), 1e-7)
          << p->name << " " << i;
    }
    first += p->value.count();
  }
}

TEST(Mlp, GradientOfABatchIsTheSumOverItsSamples) {
  Mlp model;
  const auto whole = model.gradients_of(make_batch(source, 0, 0, 9));
  model.zero();
  double loss = 0;
  for (std::uint64_t i = 0; i < 9; ++i) {
    loss += model.run(make_batch(source, 0, i, 1));
  }
  EXPECT_LT(relative_difference(whole, model.gradients()), 1e-12);
  EXPECT_NEAR(loss, model.run(make_batch(source, 0, 0, 9)), 1e-12 * loss);
  model.zero();
  for (std::uint64_t i = 0; i < 8; ++i) {  // one sample is missing
    model.run(make_batch(source, 0, i, 1));
  }
  EXPECT_GT(relative_difference(whole, model.gradients()), 1e-3);
}

TEST(Mlp, MicroBatchesAddUpToTheBatch) {
  Mlp model;
  const auto whole = model.gradients_of(make_batch(source, 2, 0, 8));
  for (const std::uint64_t parts : {2U, 4U, 8U}) {
    model.zero();
    for (std::uint64_t m = 0; m < parts; ++m) {
      model.run(make_batch(source, 2, m * (8 / parts), 8 / parts));
    }
    EXPECT_LT(relative_difference(whole, model.gradients()), 1e-12) << parts;
  }
}

TEST(Mlp, NoTokensLeaveGradientsAsTheyAre) {
  for (const DType dtype : {DType::f32, DType::f64}) {
    MlpConfig config = small;
    config.dtype = dtype;
    Mlp model(config);
    std::size_t done = 0;
    WhenDone count([&](std::size_t) { ++done; });
    EXPECT_EQ(model.mlp->forward_backward(make_batch(source, 0, 0, 0), count), 0);
    EXPECT_EQ(model.mlp->forward_backward(Batch{}, count), 0);
    EXPECT_EQ(done, 2 * model.mlp->layers().size());
    for (const Parameter* p : model.parameters) {
      const Buffer grad = p->grad.buffer();
      EXPECT_TRUE(std::all_of(grad.data, grad.data + grad.bytes(),
                              [](std::byte b) { return b == std::byte{0}; }));
    }
  }
}

TEST(Mlp, LayersAreDoneFromLastToFirstWithCompleteGradients) {
  Mlp model;
  const Batch batch = make_batch(source, 1, 0, 2);
  const auto layers = model.mlp->layers();
  std::vector<std::size_t> order;
  std::vector<std::vector<double>> when_done(layers.size());
  WhenDone hooks([&](std::size_t i) {
    order.push_back(i);
    when_done[i] = copy_of<double>(layers[i].front()->grad);
    const bool next_is_untouched =
        i == 0 || copy_of<double>(layers[i - 1].front()->grad) ==
                      std::vector<double>(layers[i - 1].front()->grad.count(), 0);
    EXPECT_TRUE(next_is_untouched);
  });
  model.mlp->forward_backward(batch, hooks);
  EXPECT_EQ(order, (std::vector<std::size_t>{3, 2, 1, 0}));
  for (std::size_t i = 0; i < layers.size(); ++i) {
    EXPECT_EQ(when_done[i], copy_of<double>(layers[i].front()->grad));
  }
}

TEST(Mlp, CallsTheHooksAroundEachLayer) {
  struct Journal : LayerHooks {
    std::string calls;

    void note(const char* what, std::size_t layer) { calls += what + std::to_string(layer) + " "; }

    void before_forward(std::size_t layer) override { note("(f", layer); }

    void after_forward(std::size_t layer) override { note("f)", layer); }

    void before_backward(std::size_t layer) override { note("(b", layer); }

    void after_backward(std::size_t layer) override { note("b)", layer); }
  } journal;

  Mlp model;
  model.mlp->forward_backward(make_batch(source, 1, 0, 1), journal);
  EXPECT_EQ(journal.calls,
            "(f0 f)0 (f1 f)1 (f2 f)2 (f3 f)3 "
            "(b3 b)3 (b2 b)2 (b1 b)1 (b0 b)0 ");
}

TEST(Mlp, HasTheSameBitsOnEveryRunAndAtEveryAddress) {
  MlpConfig config = small;
  config.dtype = DType::f32;
  config.hidden = 5;  // so that nothing in the bucket is aligned
  const Batch batch = make_batch(source, 0, 0, 5);
  const auto truth = Mlp(config).gradients_of<float>(batch);
  Mlp model(config);
  EXPECT_EQ(model.gradients_of<float>(batch), truth);
  const Tensor bucket(model.d.memory, DType::f32, {1 + truth.size()}, Category::gradients, "b");
  std::size_t first = 1;
  for (Parameter* p : model.parameters) {
    p->grad = bucket.view(first, p->value.shape(), p->name);
    first += p->value.count();
  }
  EXPECT_EQ(model.gradients_of<float>(batch), truth);
}

TEST(Mlp, FreesItsActivations) {
  Mlp model;
  const Ledger before = model.d.memory.ledger();
  EXPECT_EQ(model.d.held(Category::activations), 0);
  const auto parameter_bytes = static_cast<std::int64_t>(model.gradients().size() * 8);
  EXPECT_EQ(model.d.held(Category::weights), parameter_bytes);
  EXPECT_EQ(model.d.held(Category::gradients), parameter_bytes);
  model.run(make_batch(source, 0, 0, 4));
  EXPECT_EQ(model.d.memory.ledger().current, before.current);
  // The logits and their gradient, at least.
  EXPECT_GE(model.d.peak(Category::activations), 2 * 4 * 12 * 256 * 8);
}

TEST(Mlp, FreesItsActivationsWhenALayerThrows) {
  Mlp model;
  WhenDone stop([](std::size_t) { throw BadUse("stop"); });
  EXPECT_THROW(model.mlp->forward_backward(make_batch(source, 0, 0, 4), stop), BadUse);
  EXPECT_EQ(model.d.held(Category::activations), 0);
}

TEST(Mlp, ChargesThreeProductsOfTwoOperationsALayer) {
  Mlp model;
  const Batch batch = make_batch(source, 1, 0, 2);
  model.run(batch);
  const auto product = [&](std::int64_t in, std::int64_t out) {
    return 2 * batch.tokens() * in * out;
  };
  const std::vector<std::pair<std::string, std::int64_t>> expected{
      {"hidden.0 forward", product(12, 6)},        {"hidden.1 forward", product(6, 6)},
      {"head forward", product(6, 256)},           {"head input gradient", product(6, 256)},
      {"head weight gradient", product(6, 256)},   {"hidden.1 input gradient", product(6, 6)},
      {"hidden.1 weight gradient", product(6, 6)}, {"hidden.0 input gradient", product(12, 6)},
      {"hidden.0 weight gradient", product(12, 6)}};
  EXPECT_EQ(model.d.charges, expected);
}

TEST(Mlp, WithoutHiddenLayersStillLearns) {
  MlpConfig config = small;
  config.layers = 0;
  Mlp model(config);
  EXPECT_EQ(model.mlp->layers().size(), 2U);
  EXPECT_GT(model.run(make_batch(source, 0, 0, 1)), 0);
}

TEST(Mlp, RefusesWhatCannotBe) {
  const auto refuse = [](auto change) {
    SingleDevice d;
    MlpConfig config = small;
    change(config);
    EXPECT_THROW(make_mlp(d.device, config, 1), BadUse);
  };
  refuse([](MlpConfig& c) { c.context = 0; });
  refuse([](MlpConfig& c) { c.embedding = 0; });
  refuse([](MlpConfig& c) { c.hidden = 0; });
  refuse([](MlpConfig& c) { c.vocab = 255; });
  refuse([](MlpConfig& c) { c.dtype = DType::i32; });
  Mlp model;
  DataSource wide = source;
  wide.context = 4;
  EXPECT_THROW(model.run(make_batch(wide, 0, 0, 1)), BadUse);
  Batch uneven = make_batch(source, 0, 0, 1);
  uneven.lengths.back() -= 1;
  EXPECT_THROW(model.run(uneven), BadUse);
}

}  // namespace
}  // namespace ringside
