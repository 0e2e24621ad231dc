// More than 2^31 bytes in one operation, really moved.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "runtime/process.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

constexpr std::size_t total = (std::size_t{1} << 31) + 8;

std::int64_t exchanged(Rank& rank, std::string_view operation, std::int64_t TrafficSum::*bytes) {
  std::int64_t sum = 0;
  for (const auto& row : rank.traffic().sums()) {
    sum += std::string_view(row.operation) == operation ? row.*bytes : 0;
  }
  return sum;
}

// On either side of 2^31, and at the end.
void expect_last(Buffer data, const std::vector<std::uint8_t>& last) {
  const auto elements = data.as<std::uint8_t>().last(8);
  EXPECT_EQ(std::vector<std::uint8_t>(elements.begin(), elements.end()), last);
}

// The last 8 of 2^31 + 8 elements, which a 32-bit count would lose; and byte counts that it would
// wrap. Two ranks hold 2 GiB each.
TEST(CaseA7, LargeAllReduceAndAllGatherKeepTheirLastElements) {
  const auto memory = machine_memory();
  if (!memory || memory->available < 6UL << 30) {
    GTEST_SKIP() << "needs 6 GiB of memory; the claims are tested apart (CaseA7 of the costs)";
  }
  JobOptions options;
  options.region_bytes = total + (16UL << 20);
  run_ranks_tested(2, options, [](Rank& rank) {
    const auto me = static_cast<std::uint8_t>(rank.id());
    // Not a Tensor, whose zeros would cost another pass: fresh pages are zero.
    const Buffer data{rank.memory().allocate(total, Category::buffers, "2 GiB and 8 bytes"), total,
                      DType::u8};
    const auto elements = data.as<std::uint8_t>();
    for (std::size_t i = 0; i < 8; ++i) {
      elements[total - 8 + i] = static_cast<std::uint8_t>(i + 10U * me);
    }
    all_reduce(rank.world(), data);
    expect_last(data, {10, 12, 14, 16, 18, 20, 22, 24});
    const auto as_claimed = static_cast<std::int64_t>(total);  // 2 (p - 1) / p of it
    EXPECT_EQ(exchanged(rank, "all_reduce", &TrafficSum::sent_bytes), as_claimed);
    EXPECT_EQ(exchanged(rank, "all_reduce", &TrafficSum::received_bytes), as_claimed);
    EXPECT_EQ(as_claimed, 2'147'483'656);

    std::fill(elements.last(8).begin(), elements.last(8).end(), me);
    elements[0] = me;
    all_gather(rank.world(), data);
    expect_last(data, {1, 1, 1, 1, 1, 1, 1, 1});
    EXPECT_EQ(elements[0], 0);
    EXPECT_EQ(exchanged(rank, "all_gather", &TrafficSum::sent_bytes), as_claimed / 2);
    EXPECT_EQ(rank.memory().ledger().total, as_claimed);
  });
}

}  // namespace
}  // namespace ringside
