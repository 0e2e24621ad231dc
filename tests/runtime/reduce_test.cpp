// The reduction kernel and the table of element types.
#include "runtime/reduce.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/errors.hpp"

namespace ringside {
namespace {

template <class T>
std::vector<T> reduced(std::vector<T> incoming, std::vector<T> into, ReduceOp op) {
  reduce(buffer_of(std::span(incoming)), buffer_of(std::span(into)), op);
  return into;
}

template <class T>
class ReduceOfType : public testing::Test {};

using Types = testing::Types<float, double, std::int32_t, std::int64_t, std::uint8_t>;
TYPED_TEST_SUITE(ReduceOfType, Types);

TYPED_TEST(ReduceOfType, DoesWhatTheOperationSays) {
  using V = std::vector<TypeParam>;
  EXPECT_EQ(reduced(V{1, 5, 7}, V{2, 3, 7}, ReduceOp::sum), (V{3, 8, 14}));
  EXPECT_EQ(reduced(V{1, 5, 7}, V{2, 3, 7}, ReduceOp::avg), (V{3, 8, 14}));
  EXPECT_EQ(reduced(V{1, 5, 7}, V{2, 3, 7}, ReduceOp::prod), (V{2, 15, 49}));
  EXPECT_EQ(reduced(V{1, 5, 7}, V{2, 3, 7}, ReduceOp::min), (V{1, 3, 7}));
  EXPECT_EQ(reduced(V{1, 5, 7}, V{2, 3, 7}, ReduceOp::max), (V{2, 5, 7}));
  EXPECT_EQ(reduced(V{}, V{}, ReduceOp::sum), V{});
}

TYPED_TEST(ReduceOfType, IntegersWrap) {
  if constexpr (std::is_integral_v<TypeParam>) {
    using V = std::vector<TypeParam>;
    constexpr TypeParam most = std::numeric_limits<TypeParam>::max();
    constexpr TypeParam least = std::numeric_limits<TypeParam>::min();
    EXPECT_EQ(reduced(V{most}, V{1}, ReduceOp::sum), V{least});
    EXPECT_EQ(reduced(V{most}, V{2}, ReduceOp::prod), V{static_cast<TypeParam>(most - most - 2)});
  }
}

TYPED_TEST(ReduceOfType, FinishesAverages) {
  using V = std::vector<TypeParam>;
  const auto finished = [](V sum, ReduceOp op, int p) {
    finish_average(buffer_of(std::span(sum)), op, p);
    return sum;
  };
  EXPECT_EQ(finished(V{8, 0, 100}, ReduceOp::avg, 4), (V{2, 0, 25}));
  EXPECT_EQ(finished(V{8, 0, 100}, ReduceOp::sum, 4), (V{8, 0, 100}));
  if constexpr (std::is_integral_v<TypeParam>) {
    EXPECT_EQ(finished(V{7}, ReduceOp::avg, 2), V{3});
    EXPECT_EQ(finished(V{200}, ReduceOp::avg, 256), V{0});  // a group larger than u8 can count
    if constexpr (std::is_signed_v<TypeParam>) {
      EXPECT_EQ(finished(V{-7}, ReduceOp::avg, 2), V{-3});
    }
  } else {
    EXPECT_EQ(finished(V{7}, ReduceOp::avg, 2), V{3.5});
  }
}

template <class T>
void expect_nan_from_either_side() {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  using V = std::vector<T>;
  for (const auto op : {ReduceOp::min, ReduceOp::max, ReduceOp::sum, ReduceOp::prod}) {
    EXPECT_TRUE(std::isnan(reduced(V{nan}, V{1}, op)[0])) << name_of(op);
    EXPECT_TRUE(std::isnan(reduced(V{1}, V{nan}, op)[0])) << name_of(op);
  }
}

TEST(Reduce, NanPropagates) {
  expect_nan_from_either_side<float>();
  expect_nan_from_either_side<double>();
}

// Of two NaNs, and of a new one: the same bits whichever operand is which.
TEST(Reduce, ASumOrProductThatIsNanIsAlwaysTheSame) {
  const auto nan = [](std::uint32_t bits) { return std::bit_cast<float>(bits); };
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> a{nan(0x7FC00001), nan(0xFFC00002), nan(0x7F800003), inf, 1};
  const std::vector<float> b{nan(0xFFC00004), nan(0x7FC00005), 1, -inf, nan(0x7FFFFFFF)};
  const auto expect_one = [](const std::vector<float>& result, std::string_view what) {
    for (const float value : result) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(value), 0x7FC00000U) << what;
    }
  };
  expect_one(reduced(a, b, ReduceOp::sum), "a + b");
  expect_one(reduced(b, a, ReduceOp::sum), "b + a");
  auto into = b;
  auto from = a;
  reduce(buffer_of(std::span(from)), buffer_of(std::span(into)), ReduceOp::sum, Left::into);
  expect_one(into, "b + a, from the left");
  const std::array<Buffer, 2> operands{buffer_of(std::span(from)), buffer_of(std::span(into))};
  reduce_all(operands, {operands.data(), 1}, ReduceOp::avg);
  expect_one(from, "all at once");
}

TEST(Reduce, InfinitiesAreOrdinaryNumbersInMinAndMax) {
  const float inf = std::numeric_limits<float>::infinity();
  using V = std::vector<float>;
  EXPECT_EQ(reduced(V{inf, -inf}, V{1, 1}, ReduceOp::min), (V{1, -inf}));
  EXPECT_EQ(reduced(V{inf, -inf}, V{1, 1}, ReduceOp::max), (V{inf, 1}));
}

// Rounded once an addition, in the element's own type: 2^24 + 1 is no float.
TEST(Reduce, AddsInTheElementType) {
  EXPECT_EQ(reduced<float>({1.0F}, {16777216.0F}, ReduceOp::sum)[0], 16777216.0F);
  EXPECT_EQ(reduced<double>({1.0}, {16777216.0}, ReduceOp::sum)[0], 16777217.0);
}

template <class Call>
std::string refusal(Call&& call) {
  try {
    call();
  } catch (const BadUse& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(Reduce, RefusesWhatDoesNotFitTogether) {
  std::vector<float> three(3);
  std::vector<float> two(2);
  std::vector<double> doubles(3);
  const Buffer a = buffer_of(std::span(three));
  EXPECT_EQ(refusal([&] { reduce(a, buffer_of(std::span(two)), ReduceOp::sum); }),
            "cannot reduce 3 elements of f32 into 2 of f32");
  EXPECT_EQ(refusal([&] { reduce(a, buffer_of(std::span(doubles)), ReduceOp::sum); }),
            "cannot reduce 3 elements of f32 into 3 of f64");
  EXPECT_NE(refusal([&] { reduce(a, a, ReduceOp::none); }).find("choose sum, prod"),
            std::string::npos);
  EXPECT_EQ(refusal([&] { a.as<double>(); }), "a buffer of f32 was read as f64");
}

TEST(DTypes, AreReadBackByName) {
  const std::vector<std::pair<DType, std::size_t>> sizes{
      {DType::f32, 4}, {DType::f64, 8}, {DType::i32, 4}, {DType::i64, 8}, {DType::u8, 1}};
  for (const auto& [type, size] : sizes) {
    EXPECT_EQ(size_of(type), size) << name_of(type);
    EXPECT_EQ(parse_dtype(name_of(type)), type);
  }
  for (const auto op : {ReduceOp::none, ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max,
                        ReduceOp::avg}) {
    EXPECT_EQ(parse_reduce_op(name_of(op)), op);
  }
}

TEST(DTypes, NamesThatDoNotExistAreRefusedWithThoseThatDo) {
  EXPECT_EQ(refusal([] { parse_dtype("float"); }),
            "no element type is called \"float\": choose one of f32, f64, bf16, f16, i32, i64, u8, "
            "symbol");
  EXPECT_EQ(refusal([] { parse_reduce_op("Sum"); }),
            "no reduction is called \"Sum\": choose one of none, sum, prod, min, max, avg");
}

}  // namespace
}  // namespace ringside
