// The port rule of docs/time.md: examples worked by hand, and what must hold of any bookings.
#include "runtime/port.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace ringside {

bool operator==(const Booking& a, const Booking& b) {
  return a.start == b.start && a.end == b.end;
}

void PrintTo(const Booking& booking, std::ostream* out) {
  *out << booking.start.count() << ".." << booking.end.count();
}

namespace {

Booking from_to(std::int64_t start, std::int64_t end) {
  return {Time(start), Time(end)};
}

TEST(Port, AnIdlePortServesAtOnceAndForTheWholeDuration) {
  Port port;
  EXPECT_EQ(port.free(1), Time(0));
  EXPECT_EQ(port.book(1, Time(5), Time(10)), from_to(5, 15));
  EXPECT_EQ(port.free(1), Time(15));
}

TEST(Port, OneStreamQueuesBehindItself) {
  Port port;
  port.book(1, Time(0), Time(10));
  EXPECT_EQ(port.book(1, Time(3), Time(10)), from_to(10, 20));
  EXPECT_EQ(port.book(1, Time(50), Time(10)), from_to(50, 60));
}

// The example of docs/time.md. Stream 1 has booked 0..10; stream 2 wants 2 units at time 5. Both
// share the link, so stream 2 gets through in 4, and stream 1 owes the 2 that it lost.
TEST(Port, TheStreamThatWasTakenFromPaysWithItsNextTransfer) {
  Port port;
  EXPECT_EQ(port.book(1, Time(0), Time(10)), from_to(0, 10));
  EXPECT_EQ(port.book(2, Time(5), Time(2)), from_to(5, 9));
  EXPECT_EQ(port.free(1), Time(12));
  EXPECT_EQ(port.book(1, Time(10), Time(3)), from_to(12, 15));
}

// 100 transfers of 10 are waiting on stream 1: a transfer of 1 does not wait for them.
TEST(Port, ASmallTransferIsNotStalledBehindABacklog) {
  Port port;
  for (int i = 0; i < 100; ++i) {
    port.book(1, Time(0), Time(10));
  }
  EXPECT_EQ(port.book(2, Time(7), Time(1)), from_to(7, 9));
  EXPECT_EQ(port.free(1), Time(1001));
}

// Two streams with 8 transfers of 10 each, booked in turn: each half as fast, both end together.
TEST(Port, TwoEqualBacklogsShareTheLink) {
  Port port;
  Booking first{};
  Booking second{};
  for (int i = 0; i < 8; ++i) {
    first = port.book(1, Time(0), Time(10));
    second = port.book(2, Time(0), Time(10));
  }
  EXPECT_EQ(second.end, Time(160));
  EXPECT_EQ(port.free(1), Time(160));
  EXPECT_EQ(port.free(2), Time(160));
  EXPECT_GE(first.end, Time(140));
}

// The order in which two whole backlogs are booked gives neither an advantage in the end.
TEST(Port, TwoBacklogsBookedOneAfterTheOtherEndTogether) {
  Port port;
  for (int i = 0; i < 8; ++i) {
    port.book(1, Time(0), Time(10));
  }
  for (int i = 0; i < 8; ++i) {
    port.book(2, Time(0), Time(10));
  }
  EXPECT_EQ(port.free(1), Time(160));
  EXPECT_EQ(port.free(2), Time(160));
}

TEST(Port, ALateSenderMovesTheEndOfItsStreamOnly) {
  Port port;
  port.book(1, Time(0), Time(10));
  port.extend(1, Time(40));
  EXPECT_EQ(port.free(1), Time(40));
  port.extend(1, Time(30));
  EXPECT_EQ(port.free(1), Time(40));
  EXPECT_EQ(port.free(2), Time(0));
  EXPECT_EQ(port.book(1, Time(0), Time(5)), from_to(40, 45));
}

TEST(Port, TransfersOfNoDurationTakeNoTime) {
  Port port;
  port.book(1, Time(0), Time(10));
  EXPECT_EQ(port.book(2, Time(4), Time(0)), from_to(4, 4));
  EXPECT_EQ(port.free(1), Time(10));
}

struct Wish {
  std::size_t stream;
  Time ready;
  Time duration;
};

std::vector<Wish> some_wishes() {
  const auto tuples = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 4), rc::gen::inRange(0, 300), rc::gen::inRange(0, 40)));
  std::vector<Wish> wishes;
  for (const auto& [stream, ready, duration] : tuples) {
    wishes.push_back({static_cast<std::size_t>(stream), Time(ready), Time(duration)});
  }
  return wishes;
}

// A link that serves everything at full speed in the order of booking ends its work at `served`.
// Debts included, the streams must end there too: earlier would be more than the bandwidth, later
// would be a link that idles while there is work.
RC_GTEST_PROP(PortProperty, TheTotalIsExactlyTheBandwidth, ()) {
  Port port;
  Time served{0};
  for (const auto& wish : some_wishes()) {
    const Booking booking = port.book(wish.stream, wish.ready, wish.duration);
    served = std::max(served, booking.start) + wish.duration;
    Time last{0};
    for (std::size_t stream = 0; stream < 4; ++stream) {
      last = std::max(last, port.free(stream));
    }
    RC_ASSERT(last == served);
  }
}

RC_GTEST_PROP(PortProperty, NoTransferIsFasterThanTheLinkOrSlowerThanAllItsWork, ()) {
  Port port;
  Time all{0};
  for (const auto& wish : some_wishes()) {
    const Time own = port.free(wish.stream);
    const Booking booking = port.book(wish.stream, wish.ready, wish.duration);
    all = std::max(all, booking.start) + wish.duration;
    RC_ASSERT(booking.start == std::max(wish.ready, own));
    RC_ASSERT(booking.end - booking.start >= wish.duration);
    RC_ASSERT(booking.end <= all);
    RC_ASSERT(port.free(wish.stream) == booking.end);
  }
}

// What one stream gains, the others lose: a booking moves no stream back, and delays the others by
// no more than its own duration.
RC_GTEST_PROP(PortProperty, OtherStreamsPayNoMoreThanWasTaken, ()) {
  Port port;
  for (const auto& wish : some_wishes()) {
    std::vector<Time> before;
    for (std::size_t stream = 0; stream < 4; ++stream) {
      before.push_back(port.free(stream));
    }
    const Booking booking = port.book(wish.stream, wish.ready, wish.duration);
    for (std::size_t stream = 0; stream < 4; ++stream) {
      const Time delay = port.free(stream) - before[stream];
      RC_ASSERT(delay >= Time(0));
      if (stream != wish.stream) {
        RC_ASSERT(delay <= wish.duration);
        RC_ASSERT(before[stream] > booking.start || delay == Time(0));
      }
    }
  }
}

// A stream alone is a plain queue.
RC_GTEST_PROP(PortProperty, AStreamAloneIsFirstInFirstOut, ()) {
  Port port;
  Time end{0};
  for (const auto& wish : some_wishes()) {
    const Time start = std::max(end, wish.ready);
    end = start + wish.duration;
    RC_ASSERT(port.book(2, wish.ready, wish.duration) == (Booking{start, end}));
  }
}

}  // namespace
}  // namespace ringside
