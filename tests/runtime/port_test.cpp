// The port rule of docs/time.md: examples worked by hand.
#include "runtime/port.hpp"

#include <gtest/gtest.h>

#include "runtime/errors.hpp"

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
  EXPECT_EQ(port.end(1), Time(0));
  EXPECT_EQ(port.book(1, Time(5), Time(10)), from_to(5, 15));
  EXPECT_EQ(port.end(1), Time(15));
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
  EXPECT_EQ(port.end(1), Time(12));
  EXPECT_EQ(port.book(1, Time(10), Time(3)), from_to(12, 15));
}

// 100 transfers of 10 are waiting on stream 1: a transfer of 1 does not wait for them.
TEST(Port, ASmallTransferIsNotStalledBehindABacklog) {
  Port port;
  for (int i = 0; i < 100; ++i) {
    port.book(1, Time(0), Time(10));
  }
  EXPECT_EQ(port.book(2, Time(7), Time(1)), from_to(7, 9));
  EXPECT_EQ(port.end(1), Time(1001));
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
  EXPECT_EQ(port.end(1), Time(160));
  EXPECT_EQ(port.end(2), Time(160));
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
  EXPECT_EQ(port.end(1), Time(160));
  EXPECT_EQ(port.end(2), Time(160));
}

TEST(Port, TransfersOfNoDurationTakeNoTime) {
  Port port;
  port.book(1, Time(0), Time(10));
  EXPECT_EQ(port.book(2, Time(4), Time(0)), from_to(4, 4));
  EXPECT_EQ(port.end(1), Time(10));
}

// Six transfers of 64 ns with 20 us between them are no load for what lies beside or after them: a
// transfer of 65.536 us shares three times 64 ns, and one that comes when they are over has the
// port to itself.
TEST(Port, GapsBetweenTransfersAndDebtsThatArePaidAreNoLoad) {
  Port port;
  Time ready{0};
  for (int i = 0; i < 6; ++i) {
    ready = port.book(1, ready, Time(64'000)).end + Time(20'000'000);
  }
  const Booking beside = port.book(2, Time(10'000'000), Time(65'536'000));
  EXPECT_EQ(beside.end - beside.start, Time(65'536'000 + 3 * 64'000));
  const Booking after = port.book(2, Time(161'070'000), Time(65'536'000));
  EXPECT_EQ(after, from_to(161'070'000, 161'070'000 + 65'536'000));
}

// A third stream has a third. What does not divide goes, a picosecond each, to the streams that the
// port has known longest.
TEST(Port, ThreeStreamsHaveAThirdEach) {
  Port port;
  port.book(7, Time(0), Time(100));
  port.book(3, Time(0), Time(100));
  EXPECT_EQ(port.book(5, Time(100), Time(20)), from_to(100, 160));
  EXPECT_EQ(port.end(7), Time(220));
  EXPECT_EQ(port.end(3), Time(220));

  Port odd;
  odd.book(7, Time(0), Time(10));
  odd.book(3, Time(0), Time(10));
  EXPECT_EQ(odd.book(5, Time(5), Time(4)), from_to(5, 17)) << "7 has been served 3 and 3 only 2";
  EXPECT_EQ(odd.end(7), Time(23));
  EXPECT_EQ(odd.end(3), Time(24));
}

TEST(Port, TheAnnouncedEndIsNotTakenBackAndTheDebtIsInTheEndOfTheStream) {
  Port port;
  EXPECT_EQ(port.book(1, Time(0), Time(10)), from_to(0, 10));
  EXPECT_EQ(port.end(1), Time(10));
  EXPECT_EQ(port.book(2, Time(4), Time(10)), from_to(4, 20));
  EXPECT_EQ(port.end(1), Time(16));
  EXPECT_EQ(port.book(1, Time(11), Time(0)), from_to(16, 16));
}

// A receive that comes late is booked into the past, beside what was there.
TEST(Port, ALateReceiveSharesWithWhatWasThereThen) {
  Port port(4096);
  port.book(1, Time(0), Time(10));
  port.book(1, Time(1000), Time(10));
  port.forget(Time(5000));
  EXPECT_EQ(port.book(2, Time(5), Time(2)), from_to(5, 9));
  EXPECT_EQ(port.book(2, Time(1005), Time(2)), from_to(1005, 1009));
}

TEST(Port, BeyondTheLongestTimeIsRefused) {
  Port port;
  port.book(1, Time(0), Time::max());
  EXPECT_THROW(port.book(2, Time(0), Time::max()), BadUse);
}

}  // namespace
}  // namespace ringside
