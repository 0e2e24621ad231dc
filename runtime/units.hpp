// Quantities: modelled time, sizes and rates, read and printed with their unit.
//
// GB is 10^9 bytes, GiB is 2^30. Modelled time is a whole number of picoseconds, so that sums are
// exact and equal on every run; the largest is about 106 days.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <ratio>
#include <string>
#include <string_view>

namespace ringside {

using Time = std::chrono::duration<std::int64_t, std::pico>;

struct Bytes {
  std::int64_t count = 0;
  auto operator<=>(const Bytes&) const = default;
};

// A rate in whole units (bytes or floating-point operations) per second.
struct Rate {
  std::int64_t per_second = infinite;
  static constexpr std::int64_t infinite = std::numeric_limits<std::int64_t>::max();
  auto operator<=>(const Rate&) const = default;
};

// ceil(amount * 10^12 / rate) picoseconds, in 128 bits; zero at an infinite rate.
// Throws BadUse beyond the largest modelled time, or when the rate is not positive.
Time time_for(std::int64_t amount, Rate rate);

// a + b; throws BadUse where the sum passes the largest modelled time.
Time add(Time a, Time b);

// Numbers are decimal ("1.5", "1e12"), units exact in their case: kB, MB, GB, TB, PB are powers of
// 1000, KiB to PiB of 1024. What is no whole number of bytes, operations or picoseconds is refused,
// never rounded. Throws BadUse: what was read, what is accepted.

// "25 MiB", "160 GB", "0", "4096" (bytes).
Bytes parse_bytes(std::string_view text);
// "160 GB/s", "50GB/s", "inf"; above 0.
Rate parse_bandwidth(std::string_view text);
// "400 TFLOP/s", "1e12 FLOP/s", "inf"; above 0.
Rate parse_flops(std::string_view text);
// "1 us", "0", "2.5 ms", "3 s", "500 ns", "7 ps".
Time parse_time(std::string_view text);

// Up to five significant digits, in the unit that leaves at most three before the point, so that no
// value prints as 0.0: "97.235 GB", "781.25 us", "0 B".
std::string to_string(Bytes bytes);
std::string bandwidth_string(Rate rate);
std::string flops_string(Rate rate);
std::string to_string(Time time);

}  // namespace ringside
