// The socket wire by itself: sizes, order, acknowledgements, what it leaves behind. Ranks are
// endpoints in one process, all driven by this thread; only the wires have threads.
#include "runtime/socket_wire.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <numeric>

#include "runtime/process.hpp"
#include "tests/support/socket_ranks.hpp"

namespace ringside {
namespace {

class SocketWireSends : public testing::TestWithParam<std::size_t> {};  // by eager limit

INSTANTIATE_TEST_SUITE_P(EagerLimit, SocketWireSends, testing::Values(0, 1024, 32UL << 20),
                         testing::PrintToStringParamName());

TEST_P(SocketWireSends, MessagesOfEverySizeArriveWhole) {
  SocketRanks ranks(2, GetParam());
  for (const std::size_t bytes :
       {0UL, 1UL, 1023UL, 1024UL, 1025UL, 65'495UL, 65'536UL, 70'000UL, 1UL << 20, 16UL << 20}) {
    const Buffer data = ranks.noise(0, bytes);
    Message* sent = ranks.post(0, 1, data);
    EXPECT_EQ(sent == nullptr, GetParam() > 0 && bytes <= GetParam());
    Message& message = ranks.take(1, 0);
    EXPECT_EQ(message.envelope.bytes, bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(message.payload) % 64, 0U);
    EXPECT_EQ(bytes == 0 ? 0 : std::memcmp(message.payload, data.data, bytes), 0) << bytes;
    ranks.end(sent, 0, message, 1);
    ranks.forget(0, data);
  }
  EXPECT_EQ(ranks.in_sockets(), 0U);
}

TEST_P(SocketWireSends, TheEnvelopeArrivesAsItWas) {
  SocketRanks ranks(2, GetParam());
  const Buffer data = ranks.noise(1, 40);
  Envelope e = ranks.envelope(1, 0, data);
  e.group_name = std::string_view("dp");
  e.signature.label = std::string_view("grad.bucket.7");
  e.t0 = std::chrono::seconds(3);
  e.t1 = Time(7);
  Message* sent = ranks.endpoint(1).post(e, data, Payload::in_place);
  Message& message = ranks.take(0, 1);
  const Envelope& got = message.envelope;
  EXPECT_EQ(std::string_view(got.group_name), "dp");
  EXPECT_EQ(std::string_view(got.signature.label), "grad.bucket.7");
  EXPECT_EQ(got.t0, e.t0);
  EXPECT_EQ(got.t1, e.t1);
  EXPECT_EQ(got.source, 1);
  EXPECT_EQ(got.acknowledged, GetParam() == 0);
  ranks.end(sent, 1, message, 0);
}

TEST_P(SocketWireSends, EachSendersOrderIsKept) {
  constexpr int count = 10'000;
  SocketRanks ranks(3, GetParam());
  std::vector<Message*> sent;
  for (int i = 0; i < count; ++i) {
    for (const int from : {0, 1}) {
      std::vector<std::int32_t> number{i};
      sent.push_back(ranks.post(from, 2, buffer_of(std::span(number)), Payload::copied));
    }
  }
  for (int i = 0; i < 2 * count; ++i) {
    Message& message = ranks.take(2, i % 2);
    std::int32_t number = -1;
    std::memcpy(&number, message.payload, sizeof number);
    ASSERT_EQ(number, i / 2);
    ranks.end(sent[static_cast<std::size_t>(i)], i % 2, message, 2);
  }
  EXPECT_EQ(ranks.in_sockets(), 0U);
}

TEST(SocketWire, ASendIsTakenWhenItsReceiverSaysSo) {
  SocketRanks ranks(2, 0);
  const Buffer data = ranks.noise(0, 100);
  Message* sent = ranks.post(0, 1, data);
  Message& message = ranks.take(1, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(sent->delivery.load(), Delivery::under_way);
  ranks.end(sent, 0, message, 1);
  EXPECT_EQ(sent->delivery.load(), Delivery::taken);
}

// Nobody receives, and what is sent is more than the sender's memory holds.
TEST(SocketWire, AnEagerSendIsOverWhenItIsWritten) {
  SocketRanks ranks(2, 64UL << 10);
  const Buffer data = ranks.noise(0, 64UL << 10);
  for (std::size_t sent = 0; sent < 2 * SocketRanks::region_bytes; sent += data.count) {
    ranks.post(0, 1, data);
    ranks.wire(0).flush();
  }
}

TEST(SocketWire, FlushWaitsForAllThatIsInside) {
  SocketRanks ranks(2, 32UL << 20);
  const Buffer data = ranks.noise(0, 8UL << 20);
  for (int i = 0; i < 4; ++i) {
    ranks.post(0, 1, data);
  }
  ranks.wire(0).flush();
  ranks.job.rank(0).finished = true;
  ranks.close_wire(0);  // what was flushed is not lost by that
  for (int i = 0; i < 4; ++i) {
    Message& message = ranks.take(1, 0);
    EXPECT_EQ(std::memcmp(message.payload, data.data, data.count), 0);
    ranks.endpoint(1).release(message);
  }
}

TEST(SocketWire, ConnectionsAreMadeWhenTheyAreUsed) {
  SocketRanks ranks(8, 1024);
  const auto before = open_descriptors();
  ranks.deliver(0, 1);
  EXPECT_EQ(open_descriptors(), before + 2);  // both ends are in this process
  ranks.deliver(0, 1);
  EXPECT_EQ(open_descriptors(), before + 2);
  ranks.deliver(7, 0);
  EXPECT_EQ(open_descriptors(), before + 4);
}

TEST(SocketWire, LeavesNoDescriptorAndNoMemoryBehind) {
  const auto before = open_descriptors();
  {
    SocketRanks ranks(4, 1024);
    for (int from = 0; from < 4; ++from) {
      ranks.post(from, (from + 1) % 4, ranks.noise(from, 1024));
      ranks.post(from, (from + 2) % 4, ranks.noise(from, 100'000));
    }
    ranks.take(1, 0);  // the others are received by nobody, and this one is not released
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(SocketWire, APeerThatHasFinishedMayClose) {
  SocketRanks ranks(2, 1024);
  ranks.deliver(0, 1);
  ranks.deliver(1, 0);
  ranks.job.rank(1).finished = true;
  ranks.close_wire(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(ranks.waiter(0).lost_peer, -1);
}

TEST(SocketWire, AfterAnAbortNobodyIsLost) {
  SocketRanks ranks(2, 1024);
  ranks.deliver(0, 1);
  ranks.job.abort();
  ranks.close_wire(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(ranks.waiter(0).lost_peer, -1);
  EXPECT_THROW(ranks.take(0, 1), JobAborted);
}

}  // namespace
}  // namespace ringside
