#include "runtime/units.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <clocale>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "runtime/decimal.hpp"
#include "runtime/errors.hpp"

namespace ringside {
namespace {

constexpr auto largest = std::numeric_limits<std::int64_t>::max();

// The message of the BadUse that `parse(text)` throws; empty where it throws none.
template <class Parse>
std::string refusal(Parse parse, const std::string& text) {
  try {
    parse(text);
  } catch (const BadUse& error) {
    return error.what();
  }
  return {};
}

TEST(Units, SizesAreReadExactly) {
  EXPECT_EQ(parse_bytes("0").count, 0);
  EXPECT_EQ(parse_bytes("4096").count, 4096);
  EXPECT_EQ(parse_bytes("25 MiB").count, 26'214'400);
  EXPECT_EQ(parse_bytes("160 GB").count, 160'000'000'000);
  EXPECT_EQ(parse_bytes("160GB").count, 160'000'000'000);
  EXPECT_EQ(parse_bytes("0.5 GiB").count, 536'870'912);
  EXPECT_EQ(parse_bytes("97.234997832 GB").count, 97'234'997'832);
  EXPECT_EQ(parse_bytes("1e3 kB").count, 1'000'000);
  EXPECT_EQ(parse_bytes("5e-1 KiB").count, 512);
  EXPECT_EQ(parse_bytes("9223372036854775807").count, largest);
}

TEST(Units, RatesAreReadExactly) {
  EXPECT_EQ(parse_bandwidth("160 GB/s").per_second, 160'000'000'000);
  EXPECT_EQ(parse_bandwidth("50GB/s").per_second, 50'000'000'000);
  EXPECT_EQ(parse_bandwidth("1 GiB/s").per_second, 1LL << 30);
  EXPECT_EQ(parse_bandwidth("inf").per_second, Rate::infinite);
  EXPECT_EQ(parse_flops("400 TFLOP/s").per_second, 400'000'000'000'000);
  EXPECT_EQ(parse_flops("1e12 FLOP/s").per_second, 1'000'000'000'000);
  EXPECT_EQ(parse_flops("1E+12FLOP/s").per_second, 1'000'000'000'000);
  EXPECT_EQ(parse_flops("2EFLOP/s").per_second, 2'000'000'000'000'000'000);
  EXPECT_EQ(parse_flops("inf").per_second, Rate::infinite);
}

TEST(Units, TimesAreReadExactly) {
  EXPECT_EQ(parse_time("0").count(), 0);
  EXPECT_EQ(parse_time("7 ps").count(), 7);
  EXPECT_EQ(parse_time("500 ns").count(), 500'000);
  EXPECT_EQ(parse_time("1.5 us").count(), 1'500'000);
  EXPECT_EQ(parse_time("1.5 \u00b5s").count(), 1'500'000);
  EXPECT_EQ(parse_time("2.5 ms").count(), 2'500'000'000);
  EXPECT_EQ(parse_time("0.1 s").count(), 100'000'000'000);
  EXPECT_EQ(parse_time("9000000 s").count(), 9'000'000'000'000'000'000);
}

TEST(Units, WhatIsNoQuantityIsRefused) {
  for (const std::string text : {"",
                                 " ",
                                 "GB",
                                 "-1 GB",
                                 "+1 GB",
                                 "nan",
                                 "inf",
                                 "infinity",
                                 "NaN GB",
                                 "1 Gb",
                                 "1 KB",
                                 "1 gib",
                                 "1 G",
                                 "1,5 GB",
                                 "1.5.5 GB",
                                 "1 GB x",
                                 " 1 GB",
                                 "1 GB ",
                                 ".5 GB",
                                 "5. GB",
                                 "0x10",
                                 "1e GB",
                                 "1e99999999999 B",
                                 "1 s",
                                 "1 GB/s",
                                 "\t1 GB",
                                 "1\tGB",
                                 "\xff",
                                 "九 GB"}) {
    EXPECT_NE(refusal(parse_bytes, text), "") << text;
  }
  for (const std::string text : {"", "160", "160 GB", "0 GB/s", "-inf", "nan", "INF", "inf GB/s",
                                 "-1 GB/s", "9223372036854775807 B/s"}) {
    EXPECT_NE(refusal(parse_bandwidth, text), "") << text;
  }
  for (const std::string text : {"", "400", "400 TFLOPS", "0 FLOP/s", "nan FLOP/s"}) {
    EXPECT_NE(refusal(parse_flops, text), "") << text;
  }
  for (const std::string text : {"", "1", "-1 us", "inf", "nan us", "1 minute", "1 US"}) {
    EXPECT_NE(refusal(parse_time, text), "") << text;
  }
}

TEST(Units, WhatIsNotWholeIsRefusedNotRounded) {
  EXPECT_NE(refusal(parse_bytes, "1.5 B"), "");
  EXPECT_NE(refusal(parse_bytes, "0.1 KiB"), "");
  EXPECT_NE(refusal(parse_bytes, "1e-1000"), "");
  EXPECT_NE(refusal(parse_time, "0.5 ps"), "");
  EXPECT_NE(refusal(parse_time, "1.0005 ns").find("picoseconds"), std::string::npos);
}

TEST(Units, WhatIsTooLargeIsRefused) {
  EXPECT_NE(refusal(parse_bytes, "9223372036854775808"), "");
  EXPECT_NE(refusal(parse_bytes, "99999999999999999999999999999999999999999999"), "");
  EXPECT_NE(refusal(parse_bytes, "9224 PB"), "");
  EXPECT_NE(refusal(parse_bytes, "1e1000 B"), "");
  EXPECT_NE(refusal(parse_time, "9223373 s"), "");
  EXPECT_NE(refusal(parse_bandwidth, "9999 PB/s"), "");
}

TEST(Units, ARefusalSaysWhatWasReadAndWhatIsAccepted) {
  const std::string text = refusal(parse_bandwidth, "160 Gbps");
  for (const std::string part : {"\"160 Gbps\"", "\"Gbps\"", "GB/s", "GiB/s", "inf"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_NE(refusal(parse_time, "5").find("unit is missing"), std::string::npos);
}

TEST(Units, ReadingDependsOnNoLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "fr_FR.UTF-8", "zh_CN.UTF-8", "C.UTF-8"}) {
    std::setlocale(LC_ALL, name);  // what is not installed changes nothing
    EXPECT_EQ(parse_bytes("1.5 kB").count, 1500) << name;
    EXPECT_EQ(to_string(Bytes{1500}), "1.5 kB") << name;
  }
  std::setlocale(LC_ALL, before.c_str());
}

TEST(Units, PrintedInTheUnitThatLeavesDigits) {
  EXPECT_EQ(to_string(Bytes{0}), "0 B");
  EXPECT_EQ(to_string(Bytes{1}), "1 B");
  EXPECT_EQ(to_string(Bytes{999}), "999 B");
  EXPECT_EQ(to_string(Bytes{1000}), "1 kB");
  EXPECT_EQ(to_string(Bytes{1234}), "1.234 kB");
  EXPECT_EQ(to_string(Bytes{97'234'997'832}), "97.235 GB");
  EXPECT_EQ(to_string(Bytes{999'994}), "999.99 kB");
  EXPECT_EQ(to_string(Bytes{999'995}), "1 MB");
  EXPECT_EQ(to_string(Bytes{1'000'049'999}), "1 GB");
  EXPECT_EQ(to_string(Bytes{1'000'050'000}), "1.0001 GB");
  EXPECT_EQ(to_string(Bytes{largest}), "9223.4 PB");
  EXPECT_EQ(to_string(Bytes{-1500}), "-1.5 kB");
  EXPECT_EQ(to_string(Bytes{std::numeric_limits<std::int64_t>::min()}), "-9223.4 PB");
  EXPECT_EQ(to_string(Time{781'250'000}), "781.25 us");
  EXPECT_EQ(to_string(Time{1'500'000}), "1.5 us");
  EXPECT_EQ(to_string(Time{1'944'699'956'640}), "1.9447 s");
  EXPECT_EQ(to_string(Time{0}), "0 ps");
  EXPECT_EQ(bandwidth_string({160'000'000'000}), "160 GB/s");
  EXPECT_EQ(bandwidth_string({}), "inf");
  EXPECT_EQ(flops_string({400'000'000'000'000}), "400 TFLOP/s");
}

TEST(Units, TransfersTakeTheirExactTime) {
  const Rate nvlink = parse_bandwidth("160 GB/s");
  EXPECT_EQ(time_for(1'000'000'000 / 8, nvlink), parse_time("781.25 us"));
  EXPECT_EQ(time_for(16'000'000 / 8, nvlink), parse_time("12.5 us"));
  EXPECT_EQ(time_for(97'234'997'832, parse_bandwidth("50 GB/s")), parse_time("1.94469995664 s"));
  EXPECT_EQ(time_for(0, nvlink), Time{0});
  EXPECT_EQ(time_for(1, nvlink), Time{7});  // 6.25, rounded up
  EXPECT_EQ(time_for(largest, Rate{}), Time{0});
  EXPECT_EQ(time_for(largest, Rate{1'000'000'000'000}), Time{largest});
}

TEST(Units, TimesBeyondTheLargestAreRefused) {
  EXPECT_THROW(time_for(largest, Rate{999'999'999'999}), BadUse);
  EXPECT_THROW(time_for(9'223'373, Rate{1}), BadUse);
  EXPECT_EQ(time_for(9'223'372, Rate{1}).count(), 9'223'372'000'000'000'000);
  EXPECT_THROW(time_for(1, Rate{0}), BadUse);
  EXPECT_THROW(time_for(0, Rate{-1}), BadUse);
  EXPECT_THROW(time_for(-1, Rate{1}), BadUse);
  EXPECT_EQ(add(Time{largest - 1}, Time{1}), Time{largest});
  EXPECT_THROW(add(Time{largest}, Time{1}), BadUse);
}

// Any size of number is as likely: one and a half, a million, ten to the eighteenth.
std::int64_t any_amount() {
  const auto bits = *rc::gen::inRange(1, 63);
  return *rc::gen::inRange<std::int64_t>(0, (std::int64_t{1} << bits) - 1);
}

void expect_close(std::int64_t read, std::int64_t printed) {
  const auto off = read > printed ? read - printed : printed - read;
  // Five significant digits: half of the fifth is at most 1 in 20,000.
  RC_ASSERT(off <= printed / 20'000);
}

RC_GTEST_PROP(UnitsProperty, WhatIsPrintedIsReadBackWithinRounding, ()) {
  const auto amount = any_amount();
  expect_close(parse_bytes(to_string(Bytes{amount})).count, amount);
  expect_close(parse_time(to_string(Time{amount})).count(), amount);
  if (amount > 0) {
    expect_close(parse_bandwidth(bandwidth_string({amount})).per_second, amount);
    expect_close(parse_flops(flops_string({amount})).per_second, amount);
  }
}

RC_GTEST_PROP(UnitsProperty, NothingPrintsAsZeroButZero, ()) {
  const auto amount = 1 + any_amount();
  const std::string text = to_string(Time{amount});
  RC_ASSERT(text.front() >= '1');
  RC_ASSERT(text.front() <= '9');
  // The largest unit takes all digits: "1000000 s".
  const bool a_million_seconds = amount >= 999'999'500'000'000'000;
  RC_ASSERT(text.find(' ') <= std::size_t{a_million_seconds ? 7U : 6U});
}

RC_GTEST_PROP(UnitsProperty, TimeIsTheSmallestThatCarriesTheAmount, ()) {
  const auto amount = any_amount();
  const auto rate = 1 + any_amount();
  RC_PRE(static_cast<Wide>(amount) * 1'000'000'000'000U / static_cast<Wide>(rate) <
         static_cast<Wide>(largest));
  const auto time = static_cast<Wide>(time_for(amount, {rate}).count());
  const Wide wanted = static_cast<Wide>(amount) * 1'000'000'000'000U;
  RC_ASSERT(time * static_cast<Wide>(rate) >= wanted);
  RC_ASSERT(time == 0 || (time - 1) * static_cast<Wide>(rate) < wanted);
}

RC_GTEST_PROP(UnitsProperty, MoreTakesNoLessAndFasterNoLonger, ()) {
  const auto less = *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000);
  const auto more = less + *rc::gen::inRange<std::int64_t>(0, 1'000'000'000);
  const auto slow = *rc::gen::inRange<std::int64_t>(1'000'000, 1'000'000'000'000);
  const auto fast = slow + *rc::gen::inRange<std::int64_t>(0, 1'000'000'000'000);
  RC_ASSERT(time_for(less, {slow}) <= time_for(more, {slow}));
  RC_ASSERT(time_for(less, {fast}) <= time_for(less, {slow}));
}

RC_GTEST_PROP(UnitsProperty, NoTextCrashesTheReader, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("0123456789.eE+- \tGMKTPiBsnupFLO/\xc2\xb5")));
  for (const auto parse : {parse_bandwidth, parse_flops}) {
    const bool read = refusal(parse, text).empty();
    RC_CLASSIFY(read, "read");
  }
  refusal(parse_bytes, text);
  refusal(parse_time, text);
}

}  // namespace
}  // namespace ringside
