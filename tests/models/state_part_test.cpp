// Parts of whole tensors: rows, columns, pieces of them, and what is refused.
#include "models/state_part.hpp"

#include <gtest/gtest.h>

#include "runtime/errors.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

HostTensor numbers(const std::vector<std::size_t>& shape) {
  HostTensor tensor{DType::i32, shape, {}};
  for (std::int32_t i = 0; i < 12; ++i) {
    const auto bytes = std::as_bytes(std::span(&i, 1));
    tensor.bytes.insert(tensor.bytes.end(), bytes.begin(), bytes.end());
  }
  return tensor;
}

// What a part of [3, 4], elements 0 to 11, loads; it was 99 before.
std::vector<std::int32_t> loaded(const PieceOf& piece, std::size_t count) {
  std::vector<std::int32_t> elements(count, 99);
  load_parts({{"p", numbers({3, 4})}}, {{"p", buffer_of(std::span(elements)), piece}}, "state");
  return elements;
}

using Elements = std::vector<std::int32_t>;

TEST(StatePart, LoadsItsElementsAndZeroesItsPadding) {
  const Layout columns{.whole = {3, 4}, .dimension = 1, .first = 2};
  const Layout rows{.whole = {3, 4}, .dimension = 0, .first = 2};
  EXPECT_EQ(loaded({.shape = {3, 4}}, 12), (Elements{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(loaded({.shape = {3, 4}, .first = 5}, 3), (Elements{5, 6, 7}));
  EXPECT_EQ(loaded({.shape = {3, 2}, .layout = columns}, 6), (Elements{2, 3, 6, 7, 10, 11}));
  EXPECT_EQ(loaded({.shape = {3, 2}, .layout = columns, .first = 1}, 3), (Elements{3, 6, 7}));
  EXPECT_EQ(loaded({.shape = {2, 4}, .layout = rows, .first = 3}, 3), (Elements{11, 0, 0}));
}

std::string refusal(const NamedTensors& state) {
  std::vector<std::int32_t> elements(12);
  const std::vector<StatePart> parts{{"p", buffer_of(std::span(elements)), {.shape = {3, 4}}}};
  try {
    refuse_unknown_names(state, parts, "state");
    load_parts(state, parts, "state");
  } catch (const BadUse& refused) {
    return refused.what();
  }
  return "";
}

TEST(StatePart, AnotherNameTypeOrShapeIsRefused) {
  EXPECT_EQ(refusal({{"p", numbers({3, 4})}}), "") << "the control";
  EXPECT_NE(refusal({}).find("no tensor \"p\" of i32 [3, 4]"), std::string::npos);
  EXPECT_NE(
      refusal({{"p", numbers({4, 3})}}).find("is i32 [4, 3], but this model needs i32 [3, 4]"),
      std::string::npos);
  EXPECT_NE(refusal({{"p", numbers({3, 4})}, {"q", numbers({12})}}).find("called \"q\""),
            std::string::npos);
  HostTensor other = numbers({3, 4});
  other.dtype = DType::f32;
  EXPECT_NE(refusal({{"p", other}}).find("is f32 [3, 4]"), std::string::npos);
}

// Names as in PyTorch; a momentum of 0 keeps none.
TEST(StatePart, TheOptimizerNamesWhatItKeeps) {
  SingleDevice d;
  Parameter p{.name = "p",
              .value = Tensor(d.memory, DType::bf16, {2}, Category::weights, "p"),
              .grad = Tensor(d.memory, DType::bf16, {2}, Category::gradients, "p.grad")};
  const auto names = [&](const OptimizerConfig& config) {
    std::vector<std::string> all;
    const auto optimizer = make_optimizer(config, d.memory, {&p});
    for (const auto& part : optimizer_parts(*optimizer)) {
      all.push_back(part.name);
    }
    return all;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names({.kind = "adamw"}), (Names{"p.exp_avg", "p.exp_avg_sq", "p.master", "p.step"}));
  EXPECT_EQ(names({.kind = "sgd", .masters = false}), (Names{"p.velocity", "p.step"}));
  EXPECT_EQ(names({.kind = "sgd", .momentum = 0, .masters = false}), (Names{"p.step"}));
}

}  // namespace
}  // namespace ringside
