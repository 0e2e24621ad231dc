// Meta tensors: shape, type and the ledger's entry, without elements.
#include <gtest/gtest.h>

#include <functional>

#include "runtime/errors.hpp"
#include "runtime/reduce.hpp"
#include "runtime/tensor.hpp"

namespace ringside {
namespace {

constexpr std::size_t region_bytes = 1UL << 20;

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const BadUse& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(MetaTensor, HasShapeTypeAndLedgerBeyondTheRegion) {
  DeviceMemory memory(region_bytes, Backing::meta);
  {
    const Tensor weight(memory, DType::bf16, {248'320, 5'120}, Category::weights, "embed");
    EXPECT_TRUE(weight);
    EXPECT_TRUE(weight.meta());
    EXPECT_TRUE(weight.buffer().meta());
    EXPECT_EQ(weight.count(), 1'271'398'400U);
    EXPECT_EQ(weight.buffer().bytes(), 2'542'796'800U);
    EXPECT_EQ(weight.buffer().stored(), 0U);
    EXPECT_EQ(memory.ledger().total, 2'542'796'800);
    const Tensor part = weight.view(5'120, {2, 5'120}, "rows");
    EXPECT_TRUE(part.meta());
    EXPECT_EQ(part.buffer().count, 10'240U);
    EXPECT_TRUE(part.buffer().slice(3, 7).meta());
    EXPECT_EQ(memory.ledger().total, 2'542'796'800);
  }
  EXPECT_EQ(memory.ledger().total, 0);
  EXPECT_EQ(memory.ledger().total_peak, 2'542'796'800);
}

TEST(MetaTensor, WithoutElementsIsEmpty) {
  DeviceMemory memory(region_bytes, Backing::meta);
  const Tensor nothing(memory, DType::f32, {0, 8}, Category::weights, "nothing");
  EXPECT_FALSE(nothing.buffer().meta()) << "there is nothing that could be missing";
  EXPECT_EQ(nothing.buffer().count, 0U);
}

TEST(MetaTensor, CanStandInRealMemoryAndARealOneInMeta) {
  DeviceMemory real(region_bytes);
  DeviceMemory meta(region_bytes, Backing::meta);
  const Tensor shape(real, DType::f32, {1'000'000}, Category::weights, "w", Backing::meta);
  const Tensor numbers(meta, DType::f32, {100}, Category::buffers, "n", Backing::real);
  EXPECT_TRUE(shape.meta());
  EXPECT_FALSE(numbers.meta());
  EXPECT_EQ(numbers.as<float>()[99], 0.0F);
}

TEST(MetaTensor, RefusesToBeReadByName) {
  DeviceMemory memory(region_bytes, Backing::meta);
  const Tensor weight(memory, DType::f32, {10}, Category::weights, "layers.3.mlp.up");
  EXPECT_EQ(refusal([&] { weight.as<float>(); }),
            "tensor \"layers.3.mlp.up\" is meta: it has a shape and a type, and no elements to "
            "read or write. Only real device memory stores them");
  EXPECT_EQ(refusal([&] { weight.buffer().as<float>(); }),
            "a meta buffer of 10 f32 has no elements to read or write: its device memory keeps "
            "shapes and sizes only");
}

class Kernels : public testing::Test {
 protected:
  std::vector<float> numbers_ = {1, 2, 3};
  Buffer real_ = buffer_of(std::span(numbers_));
  Buffer meta_{nullptr, 3, DType::f32};
};

TEST_F(Kernels, ComputeNothingOfMeta) {
  reduce(meta_, meta_, ReduceOp::sum);
  const std::vector<Buffer> all{meta_, meta_};
  reduce_all(all, all, ReduceOp::max);
  finish_average(meta_, ReduceOp::avg, 3);
  convert(meta_, {nullptr, 3, DType::bf16});
}

TEST_F(Kernels, StillCheckTypeCountAndOperation) {
  EXPECT_EQ(refusal([&] {
              reduce(meta_, {nullptr, 4, DType::f32}, ReduceOp::sum);
            }),
            "cannot reduce 3 elements of f32 into 4 of f32");
  EXPECT_NE(refusal([&] { reduce(meta_, meta_, ReduceOp::none); }), "nothing was refused");
}

TEST_F(Kernels, RefuseMetaWithReal) {
  EXPECT_EQ(refusal([&] { reduce(meta_, real_, ReduceOp::sum); }),
            "cannot reduce 3 meta elements of f32 into real ones");
  const std::vector<Buffer> both{real_, meta_};
  EXPECT_EQ(refusal([&] { reduce_all(both, both, ReduceOp::sum); }),
            "cannot reduce 3 meta elements of f32 into real ones");
  EXPECT_EQ(refusal([&] {
              convert(real_, {nullptr, 3, DType::bf16});
            }),
            "cannot convert 3 elements to 3 meta ones");
  EXPECT_EQ(numbers_, (std::vector<float>{1, 2, 3}));
}

}  // namespace
}  // namespace ringside
