// What a booking on a port costs, with three streams and a backlog: the ring all-reduce of 1,024
// ranks puts 2,046 messages on one stream at once, and two other streams send small messages beside
// it. Random sizes, so that streams rarely end together.
//
// The last row books in turn before and behind a backlog, as if the port had to go over all of it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>

#include "runtime/port.hpp"

namespace {

using ringside::Port;
using ringside::Time;

constexpr int backlog = 2046;
constexpr Time gap{1'000'000};  // a latency between two messages of the ring

class Random {
 public:
  Time up_to(std::int64_t most) {
    return Time(std::uniform_int_distribution<std::int64_t>(1, most)(engine_));
  }

 private:
  std::mt19937 engine_{1};
};

// Rings launched one behind the other; while one is under way the program sends `beside` messages
// on each of two streams. Returns the number of bookings.
int rings(Port& port, int count, int beside, Time latency) {
  Random random;
  Time program{0};
  Time ring{0};
  int bookings = 0;
  for (int r = 0; r < count; ++r) {
    for (int i = 0; i < backlog; ++i) {
      port.forget(program);
      ring = port.book(0, std::max(ring, program), random.up_to(2'000'000)).end + latency;
    }
    for (int i = 0; i < beside; ++i) {
      for (const std::size_t stream : {1U, 2U}) {
        port.forget(program);
        const auto booking = port.book(stream, program, random.up_to(500'000));
        program = std::max(program + Time(100'000), stream == 1 ? booking.end : program);
      }
    }
    program = std::max(program, ring - gap * 64);
    bookings += backlog + 2 * beside;
  }
  return bookings;
}

int back_and_forth(Port& port, int count) {
  Random random;
  Time ring{0};
  int bookings = 0;
  for (; bookings < backlog; ++bookings) {
    ring = port.book(0, ring, random.up_to(2'000'000)).end;
  }
  for (int i = 0; i < count; ++i, bookings += 2) {
    port.book(1 + static_cast<std::size_t>(i % 2), Time(i * 1000), random.up_to(1000));
    port.book(0, ring, random.up_to(2'000'000));
  }
  return bookings;
}

template <class Fn>
void measure(const char* what, Fn&& fn) {
  double least = 1e9;
  double sum = 0;
  constexpr int runs = 9;
  for (int run = 0; run < runs; ++run) {
    Port port(4096);
    const auto start = std::chrono::steady_clock::now();
    const int bookings = fn(port);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    least = std::min(least, took.count() / bookings);
    sum += took.count() / bookings;
  }
  std::printf("%-62s least %6.3f us, mean %6.3f us a booking\n", what, least, sum / runs);
}

}  // namespace

int main() {
  measure("rings without gaps, 256 messages beside each on two streams",
          [](Port& port) { return rings(port, 50, 128, Time(0)); });
  measure("rings with gaps, 256 messages beside each on two streams",
          [](Port& port) { return rings(port, 50, 128, gap); });
  measure("rings with gaps, 2,046 messages beside each on two streams",
          [](Port& port) { return rings(port, 50, 1023, gap); });
  measure("in turn before and behind a backlog of 2,046 messages",
          [](Port& port) { return back_and_forth(port, 2000); });
  return 0;
}
