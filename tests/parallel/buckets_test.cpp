#include "parallel/buckets.hpp"

#include <gtest/gtest.h>

#include <array>

#include "parallel/filled_buckets.hpp"

namespace ringside {
namespace {

using Places = std::vector<std::array<std::size_t, 3>>;

// Layer, tensor and first element of each.
Places places(const Bucket& bucket) {
  Places all;
  for (const TensorInBucket& in : bucket.tensors) {
    all.push_back({in.layer, in.tensor, in.first});
  }
  return all;
}

TEST(Buckets, ComeInBackwardOrderAndByLayerHoldWholeTensorsOfOne) {
  const auto buckets =
      cut_buckets({{10}, {20, 5}, {30}}, {.limit = Bytes{1000}, .by = BucketBy::layer}, 4, 1);
  ASSERT_EQ(buckets.size(), 3U);
  EXPECT_EQ(places(buckets[0]), (Places{{2, 0, 0}}));
  EXPECT_EQ(places(buckets[1]), (Places{{1, 0, 0}, {1, 1, 20}}));
  EXPECT_EQ(buckets[1].count, 25U);
  EXPECT_EQ(places(buckets[2]), (Places{{0, 0, 0}}));
  EXPECT_EQ(buckets[2].label, "grad.bucket.2");
}

TEST(Buckets, BySizeSpanLayersUntilTheNextTensorWouldPassTheLimit) {
  // 55 elements of 4 bytes are 220; the 10 of layer 0 would make 260.
  const auto buckets = cut_buckets({{10}, {20, 5}, {30}}, {.limit = Bytes{220}}, 4, 1);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(places(buckets[0]), (Places{{2, 0, 0}, {1, 0, 30}, {1, 1, 50}}));
  EXPECT_EQ(buckets[0].count, 55U);
  EXPECT_EQ(buckets[0].last_layer(), 1U);
  EXPECT_EQ(places(buckets[1]), (Places{{0, 0, 0}}));
  EXPECT_EQ(cut_buckets({{10}, {20, 5}, {30}}, {.limit = Bytes{219}}, 4, 1).size(), 2U);
  EXPECT_EQ(cut_buckets({{10}, {20, 5}, {30}}, {.limit = Bytes{260}}, 4, 1).size(), 1U);
}

TEST(Buckets, BeginAnewAtABorder) {
  const auto buckets = cut_buckets({{1}, {2}, {3}, {4}}, {.borders = {0, 2}}, 4, 1);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(places(buckets[0]), (Places{{3, 0, 0}, {2, 0, 4}}));
  EXPECT_EQ(places(buckets[1]), (Places{{1, 0, 0}, {0, 0, 2}}));
}

TEST(Buckets, AreFilledByTheLastOfTheirLayersWhateverTheOrder) {
  FilledBuckets filled(cut_buckets({{1}, {2}, {3}, {4}}, {.borders = {1}}, 4, 1));
  using Filled = std::vector<std::size_t>;
  EXPECT_EQ(filled.layer_done(1), Filled{});
  EXPECT_EQ(filled.layer_done(0), Filled{1});
  EXPECT_EQ(filled.layer_done(3), Filled{});
  EXPECT_EQ(filled.layer_done(2), Filled{0});
  EXPECT_EQ(filled.layer_done(2), Filled{}) << "it has begun anew";
}

TEST(Buckets, CloseBeforeTheyWouldPassTheLimit) {
  // 25 elements of 4 bytes fit; the third tensor would pass.
  const auto buckets = cut_buckets({{10, 15, 1}}, {.limit = Bytes{100}}, 4, 1);
  ASSERT_EQ(buckets.size(), 2U);
  EXPECT_EQ(buckets[0].count, 25U);
  EXPECT_EQ(buckets[1].count, 1U);
}

TEST(Buckets, ALargerTensorIsABucketAlone) {
  const auto buckets = cut_buckets({{3, 100, 3}}, {.limit = Bytes{16}}, 4, 1);
  ASSERT_EQ(buckets.size(), 3U);
  EXPECT_EQ(buckets[0].count, 3U);
  EXPECT_EQ(buckets[1].count, 100U);
  EXPECT_EQ(buckets[2].count, 3U);
}

TEST(Buckets, ArePaddedToAMultipleOfTheGroup) {
  const auto buckets = cut_buckets({{5}, {8}}, {.by = BucketBy::layer}, 4, 8);
  EXPECT_EQ(buckets[0].padded, 8U);
  EXPECT_EQ(buckets[1].count, 5U);
  EXPECT_EQ(buckets[1].padded, 8U);
}

TEST(Buckets, HoldEveryElementOnce) {
  std::size_t elements = 0;
  for (const auto& bucket : cut_buckets({{7, 11}, {13}, {1, 1, 1}}, {.limit = Bytes{48}}, 4, 3)) {
    elements += bucket.count;
    EXPECT_EQ(bucket.padded % 3, 0U);
    EXPECT_LT(bucket.padded - bucket.count, 3U);
  }
  EXPECT_EQ(elements, 7U + 11U + 13U + 3U);
}

}  // namespace
}  // namespace ringside
