#include "runtime/rank_report.hpp"

#include <gtest/gtest.h>

#include "runtime/errors.hpp"

namespace ringside {
namespace {

RankReport example() {
  RankReport report;
  for (int i = 0; i < 3; ++i) {
    TrafficRecord record;
    record.envelope.source = i;
    record.envelope.bytes = 1000U + static_cast<unsigned>(i);
    record.envelope.group_name = std::string_view("dp");
    record.arrival = Time(i * 7);
    report.records.push_back(record);
  }
  TrafficSum sum;
  sum.operation = std::string_view("all_reduce");
  sum.sent_bytes = 1L << 40;
  report.sums = {sum};
  report.spans = {{2, std::string_view("layers.3.mlp"), Time(5), Time(9)}};
  report.streams = {std::string_view("compute"), std::string_view("world")};
  report.memory.add(Category::gradients, 4096);
  report.modelled = Time(123);
  report.wall_ns = 456;
  report.behind_ns = 789;
  return report;
}

TEST(RankReport, ComesBackAsItWas) {
  const RankReport report = RankReport::decode(example().encode());
  ASSERT_EQ(report.records.size(), 3U);
  EXPECT_EQ(report.records[2].envelope.source, 2);
  EXPECT_EQ(report.records[2].envelope.bytes, 1002U);
  EXPECT_EQ(std::string_view(report.records[2].envelope.group_name), "dp");
  EXPECT_EQ(report.records[2].arrival, Time(14));
  ASSERT_EQ(report.sums.size(), 1U);
  EXPECT_EQ(std::string_view(report.sums[0].operation), "all_reduce");
  EXPECT_EQ(report.sums[0].sent_bytes, 1L << 40);
  ASSERT_EQ(report.spans.size(), 1U);
  EXPECT_EQ(report.spans[0].end, Time(9));
  ASSERT_EQ(report.streams.size(), 2U);
  EXPECT_EQ(std::string_view(report.streams[1]), "world");
  EXPECT_EQ(report.memory.total, 4096);
  EXPECT_EQ(report.modelled, Time(123));
  EXPECT_EQ(report.wall_ns, 456);
  EXPECT_EQ(report.behind_ns, 789);
}

TEST(RankReport, EveryTruncationIsRefused) {
  const std::string bytes = example().encode();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(RankReport::decode(std::string_view(bytes).substr(0, length)), PeerLost) << length;
  }
}

TEST(RankReport, BytesBeyondItsEndAreRefused) {
  EXPECT_THROW(RankReport::decode(example().encode() + "x"), PeerLost);
}

TEST(RankReport, ALengthBeyondAllMemoryIsRefused) {
  std::string bytes = example().encode();
  bytes.replace(8, 8, std::string(8, '\xff'));  // the number of sums
  EXPECT_THROW(RankReport::decode(bytes), PeerLost);
}

}  // namespace
}  // namespace ringside
