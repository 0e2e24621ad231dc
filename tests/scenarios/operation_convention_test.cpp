// Sizes, counts and bandwidths by nccl-tests' definitions.
#include "scenarios/operation_convention.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "scenarios/size_sweep.hpp"
#include "tests/scenarios/refusal.hpp"

namespace ringside {
namespace {

double bus(std::string_view operation, int ranks) {
  return bus_bandwidth(convention_of(operation), ranks, algorithm_bandwidth(1UL << 30, 0.01));
}

TEST(CaseM1, BusBandwidthFactors) {
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(1UL << 30, 0.01), 107.3741824);
  EXPECT_DOUBLE_EQ(bus("all_reduce", 8), 187.9048192);
  EXPECT_DOUBLE_EQ(bus("all_gather", 8), 93.9524096);
  EXPECT_DOUBLE_EQ(bus("reduce_scatter", 8), 93.9524096);
  EXPECT_DOUBLE_EQ(bus("all_to_all", 8), 93.9524096);
  EXPECT_DOUBLE_EQ(bus("broadcast", 8), 107.3741824);
  for (const auto& operation : measured_operations()) {
    EXPECT_EQ(bus(operation, 1), 0) << operation;
  }
}

TEST(CaseM1, NothingAndNoTime) {
  EXPECT_EQ(algorithm_bandwidth(0, 0), 0);
  EXPECT_EQ(algorithm_bandwidth(0, 1), 0);
  EXPECT_TRUE(std::isinf(algorithm_bandwidth(1, 0)));
}

// Whatever has a table can be measured.
TEST(OperationConvention, EveryOperationHasOne) {
  for (const auto& row : operation_rows()) {
    EXPECT_EQ(convention_of(row.operation).operation, row.operation);
    EXPECT_EQ(&operation_row(row.operation, row.algorithm), &row);
  }
  EXPECT_TRUE(has(refusal_of([] { convention_of("all_reduc"); }), "did you mean all_reduce?"));
  EXPECT_TRUE(has(refusal_of([] { operation_row("all_reduce", "rng"); }), "did you mean ring?"));
}

using Sizes = std::vector<std::size_t>;

TEST(SizeSweep, AddsOrMultiplies) {
  EXPECT_EQ(sizes_of({.first = 4, .last = 64, .factor = 4}, 4), (Sizes{4, 16, 64}));
  EXPECT_EQ(sizes_of({.first = 4, .last = 63, .factor = 4}, 4), (Sizes{4, 16}));
  EXPECT_EQ(sizes_of({.first = 0, .last = 8, .step = 4}, 1), (Sizes{0, 4, 8}));
  EXPECT_EQ(sizes_of({.first = 0, .last = 16, .factor = 2}, 4), (Sizes{0, 4, 8, 16}));
  EXPECT_EQ(sizes_of({.first = 7, .last = 7}, 4), (Sizes{4}));
}

TEST(SizeSweep, RoundsDownToWholePartsAndShowsEachOnce) {
  EXPECT_EQ(sizes_of({.first = 4, .last = 128, .factor = 2}, 32), (Sizes{0, 32, 64, 128}));
}

TEST(SizeSweep, RefusesWhatHasNoEnd) {
  EXPECT_TRUE(has(refusal_of([] { sizes_of({.first = 8, .last = 4}, 4); }), "-b 8 is above -e 4"));
  EXPECT_TRUE(has(refusal_of([] { sizes_of({.first = 0, .last = 1UL << 30, .step = 1}, 1); }),
                  "more than 10000 sizes"));
}

TEST(SizeSweep, SuffixesAreBinaryAsInNcclTests) {
  EXPECT_EQ(size_of_flag("-b", "4"), 4U);
  EXPECT_EQ(size_of_flag("-b", "0"), 0U);
  EXPECT_EQ(size_of_flag("-b", "1K"), 1024U);
  EXPECT_EQ(size_of_flag("-b", "64M"), 64U << 20);
  EXPECT_EQ(size_of_flag("-b", "1G"), 1U << 30);
  EXPECT_EQ(size_of_flag("-b", "1k"), 1024U);
  EXPECT_EQ(size_of_flag("-b", "25 MiB"), 25U << 20);
  EXPECT_EQ(size_of_flag("-b", "1 GB"), 1'000'000'000U);
  for (const auto* text : {"", "M", "-1", "4x", "1.5", "9999999T"}) {
    EXPECT_TRUE(has(refusal_of([&] { size_of_flag("-b", text); }), "-b")) << text;
  }
}

}  // namespace
}  // namespace ringside
