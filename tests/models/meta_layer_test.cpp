// Published models as meta layers: what they hold and charge, and that they refuse data.
#include "models/meta_layer.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "runtime/errors.hpp"

namespace ringside {
namespace {

constexpr std::size_t region_bytes = 1UL << 20;

// Operations charged by what they were for: "forward".
struct Charges {
  explicit Charges(ComputeClock& clock) {
    clock.on_charge = [this](std::string_view label, Time start, Time end) {
      const auto space = label.find(' ');
      auto& sums = label.starts_with("mtp ") ? prediction : text;
      sums[std::string(label.substr(space + 1))] += (end - start).count();
    };
  }

  std::map<std::string, std::int64_t> text, prediction;
};

class MetaModel : public testing::Test {
 protected:
  std::int64_t held(Category category) const {
    return memory.ledger().current[static_cast<std::size_t>(category)];
  }

  std::int64_t peak(Category category) const {
    return memory.ledger().peak[static_cast<std::size_t>(category)];
  }

  DeviceMemory memory{region_bytes, Backing::meta};
  ComputeClock clock{Rate{1'000'000'000'000}};  // one operation, one picosecond
};

TEST_F(MetaModel, HoldsWeightsAndGradientsOfEveryTrainedTensor) {
  const auto model = make_meta_model({memory, clock}, published_model("qwen3.8-27b"), DType::bf16);
  EXPECT_EQ(held(Category::weights), 55'562'855'904);
  EXPECT_EQ(held(Category::gradients), 55'562'855'904);
  std::size_t tensors = 0;
  for (const auto& layer : model->layers()) {
    tensors += layer.size();
  }
  EXPECT_EQ(tensors, 1199U);
}

// The matrices of the text, by the tables of the checkpoint: body and head, without what is no
// matrix product (norms, convolution, A_log, dt_bias).
constexpr std::int64_t products =
    25'624'600'064 - 655'360 - 5'120 - 8'192 - 1'966'080 - 2'304 - 2'304 - 6'144;
// Its MLP, attention and fc.
constexpr std::int64_t prediction_products =
    3 * 89'128'960 + 62'914'560 + 2 * 5'242'880 + 31'457'280 + 52'428'800;

TEST_F(MetaModel, ChargesTheMatrixProductsOfItsTokens) {
  constexpr std::int64_t tokens = 4096;
  const auto model = make_meta_model({memory, clock}, published_model("qwen3.8-27b"), DType::bf16);
  Charges charges(clock);
  EXPECT_EQ(model->forward_backward(meta_batch(tokens)), 0);
  for (const std::string what : {"forward", "input gradient", "weight gradient"}) {
    EXPECT_EQ(charges.text[what], 2 * tokens * products) << what;
    EXPECT_EQ(charges.prediction[what], 2 * tokens * prediction_products) << what;
  }
  EXPECT_EQ(clock.stream().now.count(), 6 * tokens * (products + prediction_products));
}

// Negative control: another batch is another time.
TEST_F(MetaModel, ChargesATokenMoreWhereThereIsOne) {
  const auto model = make_meta_model({memory, clock}, published_model("qwen3-8b"), DType::bf16);
  model->forward_backward(meta_batch(10));
  const Time ten = clock.stream().now;
  model->forward_backward(meta_batch(11));
  EXPECT_EQ((clock.stream().now - ten).count() * 10, ten.count() * 11);
}

TEST_F(MetaModel, SavesTheInputOfEveryLayerAndFreesItAll) {
  const auto described = published_model("qwen3-8b");
  const auto model = make_meta_model({memory, clock}, described, DType::bf16);
  model->forward_backward(meta_batch(100));
  EXPECT_EQ(held(Category::activations), 0);
  // At the loss: tokens, the input of every layer but the embedding, logits and their gradient.
  const std::size_t inputs = described.layers.size() - 1;
  EXPECT_EQ(peak(Category::activations),
            static_cast<std::int64_t>(100 * (4 + inputs * 2 * 4096 + 2 * 2 * 151'936)));
}

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const BadUse& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(MetaLayer, RefusesData) {
  DeviceMemory real(region_bytes);
  DeviceMemory memory(region_bytes, Backing::meta);
  ComputeClock clock;
  const auto model = published_model("qwen3.8-27b");
  const PublishedLayer& layer = model.layers.at(2);
  ASSERT_EQ(layer.kind, LayerKind::gated_delta_net);
  const std::string text =
      "layer layers.0.attention: a published model's Gated DeltaNet has no implementation here; it "
      "runs as meta only: sizes, traffic and times, without data";
  EXPECT_EQ(refusal([&] { MetaLayer({real, clock}, layer, DType::bf16, 5120, 5120); }), text);
  MetaLayer meta({memory, clock}, layer, DType::bf16, 5120, 5120);
  const Tensor data(memory, DType::bf16, {2, 5120}, Category::activations, "x", Backing::real);
  Saved saved;
  EXPECT_EQ(refusal([&] { meta.forward(data, saved); }), text);
  EXPECT_EQ(refusal([&] { meta.backward_input(data, saved); }), text);
}

}  // namespace
}  // namespace ringside
