// Parts and wholes.
#include "models/layout_parts.hpp"

#include <gtest/gtest.h>

#include "runtime/errors.hpp"
#include "tests/models/single_device.hpp"

namespace ringside {
namespace {

using Values = std::vector<double>;

Parameter made(SingleDevice& d, std::vector<std::size_t> shape, Layout layout) {
  return {.name = "p",
          .value = Tensor(d.memory, DType::f32, std::move(shape), Category::weights, "p"),
          .grad = {},
          .layout = std::move(layout)};
}

// [3, 4], elements 0 … 11.
const Values whole{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

TEST(LayoutParts, AreRowsColumnsOrAll) {
  SingleDevice d;
  EXPECT_EQ(part_of(made(d, {3, 4}, {.whole = {3, 4}}), whole), whole);
  EXPECT_EQ(part_of(made(d, {3, 2}, {.whole = {3, 4}, .dimension = 1, .first = 2}), whole),
            (Values{2, 3, 6, 7, 10, 11}));
  EXPECT_EQ(part_of(made(d, {2, 4}, {.whole = {3, 4}, .dimension = 0, .first = 2}), whole),
            (Values{8, 9, 10, 11, 0, 0, 0, 0}));
  EXPECT_EQ(part_of(made(d, {2, 4}, {.whole = {3, 4}, .dimension = 0, .first = 4}), whole),
            Values(8, 0));
}

TEST(LayoutParts, SayWherePaddingIs) {
  const Layout layout{.whole = {3, 4}, .dimension = 0, .first = 2};
  EXPECT_EQ(place_in_whole(layout, {2, 4}, 3), 11U);
  EXPECT_EQ(place_in_whole(layout, {2, 4}, 4), std::nullopt);
}

TEST(LayoutParts, RefuseAnotherWhole) {
  SingleDevice d;
  EXPECT_THROW(part_of(made(d, {3, 4}, {.whole = {3, 4}}), Values(11)), BadUse);
  EXPECT_THROW(parts_of(std::vector<Parameter*>{}, {whole}), BadUse);
  EXPECT_THROW(parts_of(std::vector<PieceOf>{}, {whole}), BadUse);
}

}  // namespace
}  // namespace ringside
