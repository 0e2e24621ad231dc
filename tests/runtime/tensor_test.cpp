// Tensors: storage, views, and the mark of what is in flight.
#include "runtime/tensor.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "runtime/errors.hpp"

namespace ringside {
namespace {

struct TensorTest : testing::Test {
  DeviceMemory memory{1UL << 20};

  Tensor floats(std::vector<std::size_t> shape) {
    return {memory, DType::f32, std::move(shape), Category::weights, "w"};
  }
};

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const BadUse& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST_F(TensorTest, StartsAsZerosAndIsCounted) {
  {
    const Tensor first = floats({16});
    for (float& value : first.as<float>()) {
      value = 7;
    }
  }
  const Tensor tensor = floats({2, 3});  // may lie where `first` lay
  EXPECT_EQ(tensor.count(), 6U);
  EXPECT_EQ(tensor.bytes(), 24U);
  for (const float value : tensor.as<float>()) {
    EXPECT_EQ(value, 0);
  }
  EXPECT_EQ(memory.ledger().total, 24);
  EXPECT_EQ(memory.ledger().total_peak, 64);
}

TEST_F(TensorTest, ViewsShareTheStorage) {
  const Tensor whole = floats({4, 3});
  const Tensor row = whole.view(6, {3}, "row 2");
  row.as<float>()[1] = 5;
  EXPECT_EQ(whole.as<float>()[7], 5);
  const Tensor element = row.view(1, {1}, "element");
  EXPECT_EQ(element.as<float>()[0], 5);
  EXPECT_EQ(element.name(), "element");
  EXPECT_EQ(memory.ledger().total, 48) << "a view costs nothing";
}

TEST_F(TensorTest, StorageLivesAsLongAsItsLastView) {
  Tensor view;
  {
    const Tensor whole = floats({100});
    view = whole.view(50, {50}, "half");
  }
  EXPECT_EQ(memory.ledger().total, 400);
  view.as<float>()[0] = 1;
  view = {};
  EXPECT_EQ(memory.ledger().total, 0);
}

TEST_F(TensorTest, ViewsStayInside) {
  const Tensor whole = floats({10});
  EXPECT_NO_THROW(whole.view(10, {0}, "empty"));
  EXPECT_EQ(refusal([&] { whole.view(8, {3}, "past the end"); }),
            "tensor \"w\" has 10 elements: there is no view of 3 from 8");
  const Tensor part = whole.view(5, {5}, "part");
  EXPECT_THROW(part.view(1, {5}, "past the part"), BadUse);
  EXPECT_THROW(whole.view(~std::size_t{0}, {2}, "wraps"), BadUse);
}

TEST_F(TensorTest, ShapesThatCannotBeCountedAreRefused) {
  const std::size_t many = std::size_t{1} << 40;
  EXPECT_THROW(floats({many, many}), BadUse);
  EXPECT_THROW(floats({std::size_t{1} << 62}), BadUse);  // counted, but not in bytes
  const Tensor whole = floats({10});
  EXPECT_THROW(whole.view(0, {many, many}, "wraps to 0"), BadUse);
  EXPECT_EQ(floats({many, 0, many}).count(), 0U);
}

TEST_F(TensorTest, EmptyTensorsAreOrdinary) {
  const Tensor empty = floats({0, 5});
  EXPECT_TRUE(empty);
  EXPECT_EQ(empty.count(), 0U);
  EXPECT_TRUE(empty.as<float>().empty());
}

TEST_F(TensorTest, InFlightNamesTheMissingWait) {
  const Tensor whole = floats({10});
  const Tensor view = whole.view(0, {2}, "bucket.1");
  whole.mark_in_flight("all_reduce on group dp");
  EXPECT_EQ(refusal([&] { whole.as<float>(); }),
            "tensor \"w\" is in flight in all_reduce on group dp: wait() for that work before "
            "touching it");
  EXPECT_NE(refusal([&] { view.buffer(); }).find("\"bucket.1\" is in flight"), std::string::npos);
  whole.mark_in_flight("");
  EXPECT_NO_THROW(view.buffer());
}

TEST_F(TensorTest, WithoutStorageIsRefused) {
  const Tensor none;
  EXPECT_FALSE(none);
  EXPECT_EQ(refusal([&] { none.buffer(); }), "a tensor without storage was touched");
}

TEST_F(TensorTest, IsReadAsItsOwnTypeOnly) {
  const Tensor tensor = floats({1});
  EXPECT_EQ(refusal([&] { tensor.as<double>(); }), "a buffer of f32 was read as f64");
}

}  // namespace
}  // namespace ringside
