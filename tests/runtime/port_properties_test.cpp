// What must hold of any bookings on a port; and the port against the plain form of its rule, which
// keeps everything and starts anew for each booking.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <tuple>
#include <vector>

#include "runtime/port.hpp"
#include "tests/support/fluid_port.hpp"

namespace ringside {
namespace {

constexpr std::size_t streams = 4;

struct Wish {
  std::size_t stream;
  std::int64_t ready;
  std::int64_t duration;
  bool look;  // at the ends of all streams, after the booking
};

Booking book(Port& port, const Wish& wish) {
  return port.book(wish.stream, Time(wish.ready), Time(wish.duration));
}

// Some of them late, some of no duration, with gaps and without.
std::vector<Wish> some_wishes() {
  const int span = *rc::gen::element(30, 300, 3000);
  const auto tuples = *rc::gen::container<std::vector<std::tuple<int, int, int, bool>>>(
      rc::gen::tuple(rc::gen::inRange(0, static_cast<int>(streams)), rc::gen::inRange(0, span),
                     rc::gen::inRange(0, 40), rc::gen::arbitrary<bool>()));
  std::vector<Wish> wishes;
  for (const auto& [stream, ready, duration, look] : tuples) {
    wishes.push_back({static_cast<std::size_t>(stream), ready, duration, look});
  }
  return wishes;
}

RC_GTEST_PROP(PortProperty, StartsAndEndsAreThoseOfTheRule, ()) {
  Port port;
  FluidPort rule;
  for (const auto& wish : some_wishes()) {
    const std::int64_t start = std::max(wish.ready, rule.end(wish.stream));
    const std::int64_t end = rule.book(wish.stream, wish.ready, wish.duration);
    const Booking booking = book(port, wish);
    RC_ASSERT(booking.start.count() == start);
    RC_ASSERT(booking.end.count() == end);
    for (std::size_t stream = 0; wish.look && stream < streams; ++stream) {
      RC_ASSERT(port.end(stream).count() == rule.end(stream));
    }
  }
}

// The last end is that of a port that serves one transfer after the other, first come, first
// served: the total is never above the bandwidth, and the port never idles while there is work. (A
// stream's transfers are ready in their order; else one that waits for its turn is no work.)
RC_GTEST_PROP(PortProperty, TheTotalIsExactlyTheBandwidth, ()) {
  Port port;
  FluidPort rule;
  std::array<std::int64_t, streams> clock{};
  for (Wish wish : some_wishes()) {
    wish.ready = clock[wish.stream] = std::max(clock[wish.stream], wish.ready);
    book(port, wish);
    rule.add(wish.stream, wish.ready, wish.duration);
    Time last{0};
    for (std::size_t stream = 0; wish.look && stream < streams; ++stream) {
      last = std::max(last, port.end(stream));
    }
    RC_ASSERT(!wish.look || last.count() == rule.work_ends());
  }
}

// But for what does not divide: a later booking can cut a stretch in two, and of each part the
// remainder goes to the streams that were booked first.
RC_GTEST_PROP(PortProperty, LaterBookingsOnlySlowEarlierOnes, ()) {
  Port port;
  FluidPort rule;
  std::vector<std::int64_t> announced;
  const std::vector<Wish> wishes = some_wishes();
  const auto remainders = static_cast<std::int64_t>(wishes.size());  // one a booking, at most
  for (const auto& wish : wishes) {
    std::vector<Time> before;
    for (std::size_t stream = 0; wish.look && stream < streams; ++stream) {
      before.push_back(port.end(stream));
    }
    const Booking booking = book(port, wish);
    rule.add(wish.stream, wish.ready, wish.duration);
    announced.push_back(booking.end.count());
    RC_ASSERT(booking.end - booking.start >= Time(wish.duration));
    for (std::size_t stream = 0; stream < before.size(); ++stream) {
      RC_ASSERT(port.end(stream) + Time(remainders) >= before[stream]);
    }
  }
  const auto ends = rule.ends();
  for (std::size_t i = 0; i < ends.size(); ++i) {
    RC_ASSERT(announced[i] <= ends[i] + remainders);
  }
}

RC_GTEST_PROP(PortProperty, AStreamAloneIsFirstInFirstOutAtFullSpeed, ()) {
  Port port;
  Time end{0};
  for (const auto& wish : some_wishes()) {
    const Time start = std::max(end, Time(wish.ready));
    end = start + Time(wish.duration);
    const Booking booking = port.book(2, Time(wish.ready), Time(wish.duration));
    RC_ASSERT(booking.start == start);
    RC_ASSERT(booking.end == end);
  }
}

// Streams in turn, each well after the other's end: a gap or a debt that is paid is no load.
RC_GTEST_PROP(PortProperty, ATransferThatIsAloneAtEveryInstantRunsAtFullSpeed, ()) {
  Port port;
  for (const auto& wish : some_wishes()) {
    Time idle{0};
    for (std::size_t stream = 0; stream < streams; ++stream) {
      idle = std::max(idle, port.end(stream));
    }
    if (wish.look) {
      idle += Time(wish.ready);
      const Booking booking = port.book(wish.stream, idle, Time(wish.duration));
      RC_ASSERT(booking.start == idle);
      RC_ASSERT(booking.end == idle + Time(wish.duration));
    } else {
      book(port, wish);
    }
  }
}

// A rank's program that goes on and on; `late` is how far before it a booking may lie.
struct LongProgram {
  std::mt19937 random;
  std::int64_t late;
  std::int64_t program = 0;
  std::array<std::int64_t, 3> clocks{};

  std::int64_t up_to(std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(0, most)(random);
  }

  Wish next() {
    const auto stream = static_cast<std::size_t>(up_to(2));
    program += up_to(12);
    std::int64_t& clock = clocks[stream];
    clock = std::max(clock, std::max<std::int64_t>(0, program - up_to(late))) + up_to(8);
    return {stream, clock, up_to(15), up_to(9) == 0};
  }
};

// Every 40th booking is asked for of the plain form, which takes its time.
void expect_the_rule(Port& port, LongProgram program) {
  FluidPort rule;
  std::size_t most = 0;
  for (int i = 0; i < 6000; ++i) {
    const Wish wish = program.next();
    port.forget(Time(program.program));
    const Booking booking = book(port, wish);
    rule.add(wish.stream, wish.ready, wish.duration);
    most = std::max(most, port.held());
    if (i % 40 == 0 || i > 5990) {
      ASSERT_EQ(booking.end.count(), rule.ends().back()) << "booking " << i;
    }
  }
  EXPECT_LT(most, 6000U) << "what is over is forgotten";
}

TEST(PortForgets, WhatEndedBeforeASendersProgramWithoutATrace) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    Port port;
    expect_the_rule(port, {.random = std::mt19937(seed), .late = 0});
  }
}

TEST(PortForgets, NothingThatALateReceiveReaches) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    Port port(500);
    expect_the_rule(port, {.random = std::mt19937(seed), .late = 1000});
  }
}

// 20,000 transfers of 10 with gaps of 10, all over. Of the last 4,096 each is still there; one that
// would lie before all that is kept begins at the horizon.
TEST(PortForgets, AllButTheLast4096OfAReceiversTransfers) {
  Port port(4096);
  std::int64_t program = 0;
  for (int i = 0; i < 20'000; ++i, program += 20) {
    port.forget(Time(program));
    port.book(1, Time(program), Time(10));
  }
  Port same = port;
  const Booking oldest = same.book(2, Time(program - 20 * 4096), Time(10));
  EXPECT_EQ(oldest.start, Time(program - 20 * 4096));
  EXPECT_EQ(oldest.end, oldest.start + Time(20)) << "beside a transfer that has long ended";

  const Booking from_horizon = port.book(2, Time(0), Time(10));
  EXPECT_GT(from_horizon.start, Time(0));
  EXPECT_LE(from_horizon.start, Time(program - 20 * 4096));
  EXPECT_LE(from_horizon.end, from_horizon.start + Time(20));
  EXPECT_LT(port.held(), 20'000U);
}

}  // namespace
}  // namespace ringside
