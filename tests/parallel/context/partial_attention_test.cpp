// Merging partial attention: empty parts are exact, and the order does not matter (case J5).
#include "parallel/context/partial_attention.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "models/random.hpp"

namespace ringside {
namespace {

constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// (result, logarithm of the sum), as the case writes it.
struct Written {
  std::vector<double> value;
  double logarithm = minus_infinity;

  bool operator==(const Written&) const = default;
};

// A part whose sum is 1, so that its maximum is the logarithm; or none.
struct Part {
  explicit Part(const Written& written)
      : values(written.value),
        part{written.logarithm, written.logarithm == minus_infinity ? 0.0 : 1.0, values} {}

  Written written() const {
    if (part.empty()) {
      return {values, part.maximum};
    }
    Written out{values, part.maximum + logarithm(part.sum)};
    for (double& v : out.value) {
      v /= part.sum;
    }
    return out;
  }

  std::vector<double> values;
  PartialAttention<double> part;
};

Written merged(const std::vector<Written>& parts) {
  Part all(Written{std::vector<double>(parts.front().value.size())});
  for (const Written& one : parts) {
    const Part more(one);
    merge(all.part, more.part, 1.0);
  }
  return all.written();
}

const Written none{{0, 0, 0}};
const Written some{{0.1, -7.25, 3e9}, 1.5};

TEST(CaseJ5, TwoEmptyPartsAreEmpty) {
  EXPECT_EQ(merged({none, none}), none);
  EXPECT_EQ(merged({none, none, none}), none);
}

TEST(CaseJ5, AnEmptyPartChangesNothingInWhateverOrder) {
  EXPECT_EQ(merged({some, none}), some);
  EXPECT_EQ(merged({none, some}), some);
  EXPECT_EQ(merged({none, none, some}), some);
  EXPECT_EQ(merged({none, some, none}), some);
  EXPECT_EQ(merged({some, none, none}), some);
}

// Against the definition, by e^logarithm of each, in f64.
TEST(CaseJ5, TheOrderOfThreePartsDoesNotMatter) {
  const std::vector<Written> parts{some, {{4, 5, 6}, -2}, {{-1, 0.5, 1e9}, 2.25}};
  std::array<std::size_t, 3> order{0, 1, 2};
  double total = 0;
  std::vector<double> expected(3);
  for (const Written& part : parts) {
    const double weight = std::exp(part.logarithm);
    total += weight;
    for (std::size_t i = 0; i < 3; ++i) {
      expected[i] += weight * part.value[i];
    }
  }
  do {
    const Written all = merged({parts[order[0]], parts[order[1]], parts[order[2]]});
    EXPECT_NEAR(all.logarithm, std::log(total), 1e-15);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(all.value[i], expected[i] / total, 1e-14 * std::abs(expected[i] / total));
    }
  } while (std::ranges::next_permutation(order).found);
}

TEST(CaseJ5, TwoPartsInEitherOrderHaveTheSameBits) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Written a{{uniform(mix(seed)), uniform(mix(seed + 1000))}, 8 * uniform(mix(seed + 2000))};
    const Written b{{uniform(mix(seed + 3000)), 1e4}, 8 * uniform(mix(seed + 4000))};
    EXPECT_EQ(merged({a, b}), merged({b, a})) << seed;
  }
}

TEST(CaseJ5, ScoresOfTenThousandNeitherOverflowNorVanish) {
  const Written high{{1, 2, 3}, 1e4};
  const Written low{{4, 5, 6}, -1e4};
  EXPECT_EQ(merged({high, low}), high);
  EXPECT_EQ(merged({low, high}), high);
  EXPECT_EQ(merged({low, none}), low);
}

}  // namespace
}  // namespace ringside
