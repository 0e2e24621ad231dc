// Whole tensors out of parts on ranks, beside a model that was never cut.
#include "parallel/full_state.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "parallel/tensor_parallel.hpp"
#include "runtime/errors.hpp"
#include "tests/models/single_device.hpp"
#include "tests/parallel/tensor_training.hpp"

namespace ringside {
namespace {

NamedTensors whole_gpt(std::uint64_t seed) {
  DeviceMemory memory(1U << 24);
  ComputeClock clock;
  const auto model = make_gpt({memory, clock}, small_gpt(), seed);
  return whole_state(weight_parts(flatten(model->layers())));
}

std::unique_ptr<Model> cut_gpt(Rank& rank, TensorParallel& tp, std::uint64_t seed) {
  return make_gpt({rank.memory(), rank.clock()}, small_gpt(), seed,
                  {.cut = tp.cut(), .seam = tp.seam()});
}

// 257 tokens that no number divides, and KV heads that 4 and 8 ranks hold in copies.
TEST(FullState, IsGatheredFromTensorParallelRanks) {
  const NamedTensors truth = whole_gpt(5);
  for (const int ranks : {1, 2, 4, 8}) {
    run_ranks_tested(ranks, {.region_bytes = 1U << 24}, [&](Rank& rank) {
      TensorParallel tp(rank.world(), rank.memory(), small_gpt());
      const auto model = cut_gpt(rank, tp, 5);
      const auto state = gather_state(rank.world(), weight_parts(flatten(model->layers())));
      EXPECT_EQ(state, rank.id() == 0 ? truth : NamedTensors{});
    });
  }
}

TEST(FullState, IsLoadedIntoAnotherMesh) {
  const NamedTensors stored = whole_gpt(5);
  run_ranks_tested(4, {.region_bytes = 1U << 24}, [&](Rank& rank) {
    TensorParallel tp(rank.world(), rank.memory(), small_gpt());
    const auto model = cut_gpt(rank, tp, 6);
    const auto parts = weight_parts(flatten(model->layers()));
    const bool equal = gather_state(rank.world(), parts) == stored;
    EXPECT_FALSE(equal) << "the control: the seeds differ";
    load_parts(stored, parts, "stored");
    const auto right = cut_gpt(rank, tp, 5);
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const auto expected = weight_parts(flatten(right->layers()))[p].data;
      EXPECT_EQ(std::memcmp(parts[p].data.data, expected.data, expected.bytes()), 0);
    }
  });
}

std::string refusal_of_gather(const std::function<void(Rank&, std::vector<StatePart>&)>& damage) {
  try {
    run_ranks(2, small_job(), [&](Rank& rank) {
      Tensor value(rank.memory(), DType::f32, {6}, Category::weights, "p");
      std::vector<StatePart> parts{
          {"p", value.buffer(), {.shape = {6}}},
          {"q",
           value.buffer().slice(0, 2),
           {.shape = {5}, .first = static_cast<std::size_t>(2 * rank.id())}}};
      if (rank.id() == 1) {
        parts[1].data.count = 3;
        damage(rank, parts);
      }
      gather_state(rank.world(), parts);
    });
  } catch (const BadUse& refused) {
    return refused.what();
  }
  return "";
}

TEST(FullState, CopiesThatDifferAndElementsThatNobodyHasAreRefused) {
  EXPECT_EQ(refusal_of_gather([](Rank&, auto&) {}), "") << "the control";
  const auto other_copy =
      refusal_of_gather([](Rank&, auto& parts) { parts[0].data.template as<float>()[3] = -0.F; });
  EXPECT_NE(other_copy.find("\"p\": element 3 has other bits on rank 1"), std::string::npos)
      << other_copy;
  const auto missing = refusal_of_gather([](Rank&, auto& parts) { parts[1].data.count = 2; });
  EXPECT_NE(missing.find("\"q\": 1 of its 5"), std::string::npos) << missing;
  const auto shape = refusal_of_gather([](Rank&, auto& parts) { parts[0].piece.shape = {2, 3}; });
  EXPECT_NE(shape.find("[6]"), std::string::npos) << shape;
}

HostTensor numbers(const std::vector<float>& elements) {
  const auto bytes = std::as_bytes(std::span(elements));
  return {DType::f32, {elements.size()}, {bytes.begin(), bytes.end()}};
}

TEST(FullState, WhatIsNotFiniteIsNoEqualState) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const NamedTensors state{{"fine", numbers({1})}, {"p", numbers({1, nan})}};
  const StateDifference found = difference(state, state);
  EXPECT_TRUE(found.of_other_bits.empty());
  EXPECT_EQ(found.not_finite, std::vector<std::string>{"p"});
  EXPECT_FALSE(found.none());
}

TEST(FullState, TwoStatesAreComparedByNameShapeAndBits) {
  const NamedTensors a{{"same", numbers({1})},
                       {"gone", numbers({1})},
                       {"wide", numbers({1, 2})},
                       {"far", numbers({1, 2})}};
  const NamedTensors b{{"same", numbers({1})},
                       {"new", numbers({1})},
                       {"wide", numbers({1})},
                       {"far", numbers({1, 2.5F})}};
  EXPECT_TRUE(difference(a, a).none());
  const StateDifference found = difference(a, b);
  using Names = std::vector<std::string>;
  EXPECT_EQ(found.only_in_first, Names{"gone"});
  EXPECT_EQ(found.only_in_second, Names{"new"});
  EXPECT_EQ(found.of_other_shape, Names{"wide"});
  EXPECT_EQ(found.of_other_bits, Names{"far"});
  EXPECT_EQ(found.deviation.absolute, 0.5);
  EXPECT_FALSE(found.none());
  EXPECT_FALSE(difference({{"z", numbers({0.F})}}, {{"z", numbers({-0.F})}}).none());
}

}  // namespace
}  // namespace ringside
