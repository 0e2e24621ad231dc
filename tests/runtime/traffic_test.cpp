// What a rank counts of its messages.
#include "runtime/traffic.hpp"

#include <gtest/gtest.h>

#include "tests/runtime/ring_traffic.hpp"

namespace ringside {
namespace {

Envelope envelope(std::string_view group, std::string_view op, std::string_view label,
                  LinkClass link, std::uint64_t bytes) {
  Envelope e;
  e.group_name = group;
  e.signature.operation = op;
  e.signature.label = label;
  e.link = link;
  e.bytes = bytes;
  return e;
}

TEST(Traffic, KeepsASumForEachGroupOperationLabelAndLink) {
  Traffic traffic(LogLevel::summary);
  const auto nvlink = LinkClass::nvlink;
  for (int round = 0; round < 3; ++round) {
    traffic.sent(envelope("dp", "all_reduce", "a", nvlink, 10));
    traffic.sent(envelope("dp", "all_reduce", "b", nvlink, 20));
    traffic.sent(envelope("dp", "all_reduce", "a", LinkClass::ib, 30));
    traffic.sent(envelope("dp", "broadcast", "a", nvlink, 40));
    traffic.sent(envelope("tp", "all_reduce", "a", nvlink, 50));
    traffic.received(envelope("dp", "all_reduce", "b", nvlink, 5), Time(1), 0);
  }
  ASSERT_EQ(traffic.sums().size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(traffic.sums()[i].sent_bytes, 30 * static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(traffic.sums()[i].sent_messages, 3);
    EXPECT_EQ(traffic.sums()[i].received_bytes, i == 1 ? 15 : 0);
    EXPECT_EQ(traffic.sums()[i].received_messages, i == 1 ? 3 : 0);
  }
  EXPECT_TRUE(traffic.records().empty());
}

TEST(Traffic, SumsEqualTheRecords) {
  Traffic traffic(LogLevel::full);
  std::int64_t bytes = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const auto label = "grad.bucket." + std::to_string(i * 7 % 13);
    traffic.received(envelope("dp", "all_reduce", label, LinkClass::nvlink, i), Time(1), 2);
    bytes += static_cast<std::int64_t>(i);
  }
  std::int64_t summed = 0;
  std::int64_t messages = 0;
  for (const auto& sum : traffic.sums()) {
    summed += sum.received_bytes;
    messages += sum.received_messages;
  }
  EXPECT_EQ(traffic.sums().size(), 13U);
  EXPECT_EQ(traffic.records().size(), 1000U);
  EXPECT_EQ(messages, 1000);
  EXPECT_EQ(summed, bytes);
}

TEST(Traffic, TheLiveViewSeesEveryMessageAtEveryLevel) {
  for (const auto level : {LogLevel::full, LogLevel::summary, LogLevel::none}) {
    Traffic traffic(level);
    std::vector<TrafficRecord> seen;
    traffic.on_received = [&](const TrafficRecord& record) { seen.push_back(record); };
    traffic.received(envelope("dp", "send", "", LinkClass::self, 8), Time(17), 4);
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].arrival, Time(17));
    EXPECT_EQ(seen[0].wall_ns, 4);
    EXPECT_EQ(traffic.records().size(), level == LogLevel::full ? 1U : 0U);
    EXPECT_EQ(traffic.sums().size(), 1U);
  }
}

}  // namespace
}  // namespace ringside
