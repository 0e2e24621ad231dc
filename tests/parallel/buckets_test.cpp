#include "parallel/buckets.hpp"

#include <gtest/gtest.h>

namespace ringside {
namespace {

TEST(Buckets, ComeInBackwardOrderAndHoldWholeTensorsOfOneLayer) {
  const auto buckets = cut_buckets({{10}, {20, 5}, {30}}, Bytes{1000}, 4, 1);
  ASSERT_EQ(buckets.size(), 3U);
  EXPECT_EQ(buckets[0].layer, 2U);
  EXPECT_EQ(buckets[1].layer, 1U);
  EXPECT_EQ(buckets[1].tensors, (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(buckets[1].firsts, (std::vector<std::size_t>{0, 20}));
  EXPECT_EQ(buckets[1].count, 25U);
  EXPECT_EQ(buckets[2].layer, 0U);
  EXPECT_EQ(buckets[2].label, "grad.bucket.2");
}

TEST(Buckets, CloseBeforeTheyWouldPassTheLimit) {
  // 25 elements of 4 bytes fit; the third tensor would pass.
  const auto buckets = cut_buckets({{10, 15, 1}}, Bytes{100}, 4, 1);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].count, 25U);
  EXPECT_EQ(buckets[1].count, 1U);
}

TEST(Buckets, ALargerTensorIsABucketAlone) {
  const auto buckets = cut_buckets({{3, 100, 3}}, Bytes{16}, 4, 1);
  ASSERT_EQ(buckets.size(), 3U);
  EXPECT_EQ(buckets[0].count, 3U);
  EXPECT_EQ(buckets[1].count, 100U);
  EXPECT_EQ(buckets[2].count, 3U);
}

TEST(Buckets, ArePaddedToAMultipleOfTheGroup) {
  const auto buckets = cut_buckets({{5}, {8}}, Bytes{1000}, 4, 8);
  EXPECT_EQ(buckets[0].padded, 8U);
  EXPECT_EQ(buckets[1].count, 5U);
  EXPECT_EQ(buckets[1].padded, 8U);
}

TEST(Buckets, HoldEveryElementOnce) {
  std::size_t elements = 0;
  for (const auto& bucket : cut_buckets({{7, 11}, {13}, {1, 1, 1}}, Bytes{48}, 4, 3)) {
    elements += bucket.count;
    EXPECT_EQ(bucket.padded % 3, 0U);
    EXPECT_LT(bucket.padded - bucket.count, 3U);
  }
  EXPECT_EQ(elements, 7U + 11U + 13U + 3U);
}

}  // namespace
}  // namespace ringside
