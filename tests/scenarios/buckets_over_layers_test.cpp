// dp/bucket_by_layer and dp/bucket_by_size: figures worked out by hand, no bucket cut by a function
// of the program.
#include <gtest/gtest.h>

#include "scenarios/exit_codes.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

struct Seen {
  std::int64_t buckets = 0;
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
  bool operator==(const Seen&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Seen& seen) {
  return out << seen.buckets << " buckets, " << seen.messages << " messages, " << seen.bytes
             << " bytes";
}

nlohmann::json measured(const nlohmann::json& document, const std::string& name) {
  for (const auto& row : document["checks"]) {
    if (row["name"] == name) {
      return row["measured"];
    }
  }
  return -1;
}

Seen run(const std::string& words) {
  const auto ended = run_program("run " + words +
                                 " --json --log none --set 'checks.run=[\"traffic\",\"buckets\"]'");
  EXPECT_EQ(ended.exit_code, exit_ok) << words << ended.err << ended.out;
  const auto document = ended.document();
  const std::int64_t bytes = measured(document, "buckets.bytes");
  EXPECT_EQ(measured(document, "traffic.gradients_sent"), bytes);
  return {measured(document, "buckets.number"), measured(document, "buckets.messages"), bytes};
}

// Table and head 2,048 elements each, 30 blocks of 592, a norm of 8: 21,864 of 4 bytes, all
// multiples of 8. A ring over p ranks takes 2(p-1) messages of each, and sends 2(p-1) times all.
TEST(BucketsOverLayers, Are33And3696MessagesByLayerAnd1And112BySize) {
  EXPECT_EQ(run("dp/bucket_by_layer"), (Seen{33, 33 * 8 * 14, 14 * 21864 * 4}));
  EXPECT_EQ(run("dp/bucket_by_size"), (Seen{1, 8 * 14, 14 * 21864 * 4}));
}

// Over 3 ranks a table is padded to 2,049, a block to 594 and the norm to 9; 21,864 divides.
TEST(BucketsOverLayers, ArePaddedToAMultipleOfTheRanksAndNoMore) {
  constexpr int by_layer = 2049 + 30 * 594 + 9 + 2049;
  EXPECT_EQ(run("dp/bucket_by_layer --ranks 3"), (Seen{33, 33 * 3 * 4, 4 * by_layer * 4}));
  EXPECT_EQ(run("dp/bucket_by_size --ranks 3"), (Seen{1, 3 * 4, 4 * 21864 * 4}));
}

// 16 KiB are 4,096 elements. Head 2,048 + norm 8 + 3 blocks of 592 = 3,832, and the fourth's norm
// (8), q (64), k and v (32 each), o (64), norm (8) = 4,040; its gate (128) would pass. The rest of
// that block, gate, up and down, are 384; then six blocks, 3,936, and 8 + 64 + 32 + 32 of the
// next = 4,072, so that its o is the first of the next bucket.
TEST(BucketsOverLayers, CloseBeforeATensorWouldPassTheLimit) {
  const Seen seen = run("dp/bucket_by_size --set dp.bucket='16 KiB'");
  EXPECT_EQ(seen.buckets, 6);
  EXPECT_EQ(seen.messages, 6 * 112);
}

TEST(BucketsOverLayers, BySizeWithZero3IsRefusedAndByLayerIsItsDefault) {
  const auto refused = run_program("run dp/bucket_by_size --set parallel.zero=3");
  EXPECT_EQ(refused.exit_code, exit_bad_use);
  EXPECT_TRUE(has(refused.err,
                  "dp.bucket_by = size lets a bucket span layers, but parallel.zero = "
                  "3 gathers a layer's buckets together"))
      << refused.err;
  const auto left_open = run_program(
      "run dp/bucket_by_size --set dp.bucket_by='' --set parallel.zero=3 --json --log none --set "
      "'checks.run=[\"gradients\",\"zero_bits\"]'");
  EXPECT_EQ(left_open.exit_code, exit_ok) << left_open.err << left_open.out;
}

}  // namespace
}  // namespace ringside
