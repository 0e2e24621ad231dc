// Two endpoints in one process: eager and acknowledged messages, matching, reuse, limits of waits.
#include "runtime/endpoint.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "runtime/errors.hpp"
#include "runtime/shared_memory_wire.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t region_bytes = 4UL << 20;
const WaitRecord nothing{};

// Ranks 0 and 1 of a job, both driven by this thread: that is possible because posts never block.
struct Pair {
  explicit Pair(std::size_t eager_limit, std::chrono::nanoseconds limit = 10s)
      : job(2, region_bytes),
        memories{DeviceMemory(job.region(0), {}, "rank 0"),
                 DeviceMemory(job.region(1), {}, "rank 1")},
        waiters{Waiter(job, 0, limit), Waiter(job, 1, limit)},
        wire(job),
        endpoints{Endpoint(job.rank(0), memories[0], waiters[0], eager_limit),
                  Endpoint(job.rank(1), memories[1], waiters[1], eager_limit)} {
    endpoints[0].connect({&wire, &wire});
    endpoints[1].connect({&wire, &wire});
  }

  Buffer numbers(std::size_t count, int first = 0) {
    std::byte* data = memories[0].allocate(count * 4, Category::buffers, "numbers");
    const Buffer buffer{data, count, DType::i32};
    const auto values = buffer.as<std::int32_t>();
    std::iota(values.begin(), values.end(), first);
    return buffer;
  }

  Message* post(Buffer data, std::int64_t tag = 0, Payload mode = Payload::in_place) {
    return endpoints[0].post({.group = 7,
                              .tag = tag,
                              .source = 0,
                              .destination = 1,
                              .count = data.count,
                              .bytes = data.bytes()},
                             data, mode);
  }

  Message& take(std::int64_t tag = 0) { return endpoints[1].take(7, 0, tag, nothing); }

  SharedJob job;
  DeviceMemory memories[2];
  Waiter waiters[2];
  SharedMemoryWire wire;
  Endpoint endpoints[2];
};

std::int32_t first_of(const Message& message) {
  std::int32_t value = 0;
  std::memcpy(&value, message.payload, sizeof value);
  return value;
}

TEST(Endpoint, SmallPayloadsAreCopiedAndTheSendIsOver) {
  Pair pair(64);
  const Buffer data = pair.numbers(16, 5);
  EXPECT_EQ(pair.post(data), nullptr);
  data.as<std::int32_t>()[0] = -1;  // the sender may write on
  Message& message = pair.take();
  EXPECT_NE(message.payload, data.data);
  EXPECT_EQ(first_of(message), 5);
  EXPECT_FALSE(message.envelope.acknowledged);
  pair.endpoints[1].release(message);
}

TEST(Endpoint, BigPayloadsAreReadWhereTheyLie) {
  Pair pair(64);
  const Buffer data = pair.numbers(17);
  Message* sent = pair.post(data);
  ASSERT_NE(sent, nullptr);
  EXPECT_EQ(sent->delivery.load(), Delivery::under_way);
  Message& message = pair.take();
  EXPECT_EQ(message.payload, data.data);
  pair.endpoints[1].release(message);
  EXPECT_EQ(sent->delivery.load(), Delivery::taken);
  pair.endpoints[0].wait_taken(*sent, nothing);
}

TEST(Endpoint, AnEagerLimitOfZeroAcknowledgesEverything) {
  Pair pair(0);
  for (const std::size_t count : {0UL, 1UL, 1000UL}) {
    Message* sent = pair.post(pair.numbers(count));
    ASSERT_NE(sent, nullptr) << count;
    pair.endpoints[1].release(pair.take());
    pair.endpoints[0].wait_taken(*sent, nothing);
  }
}

TEST(Endpoint, WhatPeersCannotReadIsCopied) {
  Pair pair(0);
  std::vector<std::int32_t> heap{42};
  Message* sent = pair.post(buffer_of(std::span(heap)));
  Message& message = pair.take();
  EXPECT_TRUE(pair.memories[0].contains(message.payload, 4));
  EXPECT_EQ(first_of(message), 42);
  pair.endpoints[1].release(message);
  pair.endpoints[0].wait_taken(*sent, nothing);
}

TEST(Endpoint, ACopiedPayloadMayBeOverwritten) {
  Pair pair(0);
  const Buffer data = pair.numbers(8, 3);
  Message* sent = pair.post(data, 0, Payload::copied);
  data.as<std::int32_t>()[0] = -1;
  Message& message = pair.take();
  EXPECT_EQ(first_of(message), 3);
  pair.endpoints[1].release(message);
  pair.endpoints[0].wait_taken(*sent, nothing);
}

TEST(Endpoint, MatchesByTagAndKeepsTheOrderWithin) {
  Pair pair(64);
  for (int i = 0; i < 6; ++i) {
    pair.post(pair.numbers(1, i), i % 2);
  }
  for (const int due : {1, 3, 5}) {
    Message& message = pair.take(1);
    EXPECT_EQ(first_of(message), due);
    pair.endpoints[1].release(message);
  }
  EXPECT_EQ(pair.endpoints[1].unreceived().size(), 3U);
  for (const int due : {0, 2, 4}) {
    Message& message = pair.take(0);
    EXPECT_EQ(first_of(message), due);
    pair.endpoints[1].release(message);
  }
  EXPECT_TRUE(pair.endpoints[1].unreceived().empty());
}

TEST(Endpoint, UnreceivedMessagesAreListed) {
  Pair pair(64);
  pair.post(pair.numbers(3), 5);
  const auto left = pair.endpoints[1].unreceived();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].tag, 5);
  EXPECT_EQ(left[0].bytes, 12U);
}

// A hundred thousand messages of every size class in a region of 4 MiB: nodes are used again.
TEST(Endpoint, NodesAreUsedAgain) {
  for (const std::size_t eager_limit : {0UL, 1024UL}) {
    Pair pair(eager_limit);
    const Buffer data = pair.numbers(256);
    for (std::size_t i = 0; i < 100'000; ++i) {
      Message* sent = pair.post(data.slice(0, i % 257), 0, Payload::copied);
      pair.endpoints[1].release(pair.take());
      if (sent != nullptr) {
        pair.endpoints[0].wait_taken(*sent, nothing);
      }
    }
  }
}

// Large copies go back to the arena, and take no more of it than they need: 2.5 MiB of 4.
TEST(Endpoint, BigCopiesAreGivenBack) {
  Pair pair(0);
  std::vector<std::int32_t> heap((5UL << 20) / 2 / 4);
  for (int i = 0; i < 20; ++i) {
    Message* sent = pair.post(buffer_of(std::span(heap)));
    pair.endpoints[1].release(pair.take());
    pair.endpoints[0].wait_taken(*sent, nothing);
  }
}

template <class Error>
std::string text_of_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Waiter, GivesUpAtTheLimitAndSaysWhatItWaitedFor) {
  Pair pair(0, 50ms);
  const WaitRecord what{.kind = std::string_view("recv"),
                        .peer = 0,
                        .tag = 3,
                        .bytes = 4096,
                        .group = std::string_view("dp")};
  const std::string text = text_of_error<PeerLost>([&] { pair.endpoints[1].take(7, 0, 3, what); });
  for (const std::string part :
       {"rank 1 waited", "past the limit", "recv from rank 0", "group dp", "tag 3"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
  EXPECT_NE(text.find(to_string(Bytes{4096})), std::string::npos) << text;
  const auto left = pair.job.rank(1).waiting.read();
  ASSERT_TRUE(left);
  EXPECT_EQ(left->tag, 3) << "what it waited for stays for the report";
}

TEST(Waiter, AnAbortEndsEveryWait) {
  Pair pair(0);
  Message* sent = pair.post(pair.numbers(1));
  pair.job.abort();
  EXPECT_THROW(pair.endpoints[1].take(7, 0, 3, nothing), JobAborted);
  EXPECT_THROW(pair.endpoints[0].wait_taken(*sent, nothing), JobAborted);
}

TEST(Waiter, ALostConnectionEndsTheWaitAndIsNamed) {
  Pair pair(0);
  pair.waiters[1].lost_peer = 0;
  const std::string text =
      text_of_error<PeerLost>([&] { pair.endpoints[1].take(7, 0, 3, nothing); });
  EXPECT_NE(text.find("the connection to rank 0 broke"), std::string::npos) << text;
}

TEST(Waiter, WhatIsDoneIsNotWaitedFor) {
  Pair pair(64);
  pair.post(pair.numbers(1));
  pair.job.abort();
  EXPECT_NO_THROW(pair.take());
}

}  // namespace
}  // namespace ringside
