// The chapter's bench: one MLP cut in three ways on real ranks, beside loops written out.
#include "parallel/mlp_split.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "runtime/errors.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using Values = std::vector<double>;

double gelu_by_libm(double z) {
  return z * 0.5 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (z + 0.044715 * z * z * z)));
}

// y = gelu(x A) B, in loops.
Values in_loops(const GeluMlp& mlp) {
  const auto x = mlp.x.as<double>();
  const auto a = mlp.a.as<double>();
  const auto b = mlp.b.as<double>();
  Values y(5 * 4);
  for (std::size_t t = 0; t < 5; ++t) {
    for (std::size_t j = 0; j < 8; ++j) {
      double z = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        z += x[t * 4 + k] * a[k * 8 + j];
      }
      for (std::size_t i = 0; i < 4; ++i) {
        y[t * 4 + i] += gelu_by_libm(z) * b[j * 4 + i];
      }
    }
  }
  return y;
}

double furthest(const Values& a, const Values& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
  }
  return most;
}

struct Split {
  double off = 0;  // the worst of all ranks
  std::vector<std::int64_t> sent{};
};

Split split(int ranks, const MlpSplitOptions& options) {
  JobOptions job = small_job();
  job.log = LogLevel::summary;
  Split seen;
  const auto result = run_job_tested(ranks, job, [&](Rank& rank) {
    const GeluMlp mlp = make_gelu_mlp(rank.memory(), 1);
    const Tensor y = run_split(rank.world(), rank.memory(), mlp, options);
    const Values values(y.as<double>().begin(), y.as<double>().end());
    return std::to_string(1e20 * furthest(in_loops(mlp), values));
  });
  for (const auto& rank : result.ranks) {
    seen.off = std::max(seen.off, std::stod(rank.value) / 1e20);
    seen.sent.push_back(0);
    for (const auto& sum : rank.report.sums) {
      seen.sent.back() += sum.sent_bytes;
    }
  }
  return seen;
}

TEST(MlpSplit, OneProcessComputesWhatTheLoopsCompute) {
  DeviceMemory memory(std::size_t{1} << 20);
  const GeluMlp mlp = make_gelu_mlp(memory, 1);
  const Tensor y = run_alone(memory, mlp);
  EXPECT_LT(furthest(in_loops(mlp), {y.as<double>().begin(), y.as<double>().end()}), 1e-14);
  EXPECT_NEAR(gelu(1.0), 0.841191990607477, 1e-12);
  EXPECT_EQ(mlp.x.shape(), (std::vector<std::size_t>{5, 4}));
}

TEST(MlpSplit, ByColumnsAndThenRowsIsRight) {
  for (const int ranks : {2, 4, 8}) {
    const Split seen = split(ranks, {.split = MlpSplit::column_row});
    EXPECT_LT(seen.off, 1e-12) << ranks;
    const auto all = std::accumulate(seen.sent.begin(), seen.sent.end(), std::int64_t{0});
    EXPECT_EQ(all, ranks * sent_by_split(MlpSplit::column_row, ranks)) << ranks;
  }
  EXPECT_EQ(sent_by_split(MlpSplit::column_row, 2), 160);  // 2 (t-1)/t of 5 x 4 doubles
}

TEST(MlpSplit, ByColumnsOnlyIsRightAndSendsMore) {
  for (const int ranks : {2, 4}) {
    const Split seen = split(ranks, {.split = MlpSplit::column_only});
    EXPECT_LT(seen.off, 1e-12) << ranks;
    for (const std::int64_t sent : seen.sent) {
      EXPECT_EQ(sent, sent_by_split(MlpSplit::column_only, ranks)) << ranks;
    }
    EXPECT_GT(sent_by_split(MlpSplit::column_only, ranks),
              sent_by_split(MlpSplit::column_row, ranks));
  }
}

TEST(MlpSplit, ByRowsFirstIsVisiblyWrong) {
  for (const int ranks : {2, 4}) {
    EXPECT_GT(split(ranks, {.split = MlpSplit::row_first}).off, 0.1) << ranks;
  }
  EXPECT_LT(split(1, {.split = MlpSplit::row_first}).off, 1e-12);  // nothing is cut
}

// 64 numbers of A and B: what a rank's ledger held at most.
TEST(MlpSplit, ARankHoldsItsPartOfTheWeightsAndByRowsFirstAllOfB) {
  const auto held = [](int ranks, MlpSplit cut) {
    const auto bytes = run_ranks_tested(ranks, small_job(), [&](Rank& rank) {
      DeviceMemory apart(std::size_t{1} << 20);
      const GeluMlp mlp = make_gelu_mlp(apart, 1);
      run_split(rank.world(), rank.memory(), mlp, {.split = cut});
      return rank.memory().ledger().peak[static_cast<std::size_t>(Category::weights)];
    });
    EXPECT_EQ(bytes.front(), bytes.back());
    EXPECT_EQ(bytes.front(), weights_of_split(cut, ranks));
    return bytes.front();
  };
  EXPECT_EQ(held(1, MlpSplit::column_row), 512);
  EXPECT_EQ(held(2, MlpSplit::column_row), 256);
  EXPECT_EQ(held(8, MlpSplit::column_row), 64);
  EXPECT_EQ(held(4, MlpSplit::column_only), 128);
  EXPECT_EQ(held(2, MlpSplit::row_first), 384);
}

TEST(MlpSplitControl, AMissingSumIsSeen) {
  EXPECT_GT(split(2, {.split = MlpSplit::column_row, .fault = Fault::leave_not_reduced}).off, 0.01);
}

TEST(MlpSplit, SaysWhyRowsFirstIsWrong) {
  DeviceMemory memory(std::size_t{1} << 20);
  const GeluMlp mlp = make_gelu_mlp(memory, 1);
  const GeluOfParts worst = worst_of_parts(memory, mlp, 2);
  double z = 0;
  std::array<double, 2> parts{};
  for (std::size_t k = 0; k < 4; ++k) {
    const double term =
        mlp.x.as<double>()[worst.token * 4 + k] * mlp.a.as<double>()[k * 8 + worst.column];
    z += term;
    parts[k / 2] += term;
  }
  EXPECT_NEAR(worst.sum, z, 1e-14);
  EXPECT_NEAR(worst.gelu_of_sum, gelu_by_libm(z), 1e-12);
  EXPECT_NEAR(worst.sum_of_gelus, gelu_by_libm(parts[0]) + gelu_by_libm(parts[1]), 1e-12);
  EXPECT_GT(std::abs(worst.sum_of_gelus - worst.gelu_of_sum), 0.1);
}

TEST(MlpSplit, RefusesRanksThatDoNotDivideItsMatrices) {
  try {
    require_divisible(MlpSplit::column_only, 8);
    FAIL();
  } catch (const BadUse& error) {
    EXPECT_STREQ(error.what(),
                 "column_only cuts 4 columns of B of the bench's MLP over 8 ranks, which do not "
                 "divide them: the ranks may be 1, 2 or 4");
  }
  EXPECT_THROW(require_divisible(MlpSplit::column_row, 3), BadUse);
  EXPECT_THROW(parse_mlp_split("rows"), BadUse);
  EXPECT_EQ(parse_mlp_split("row_first"), MlpSplit::row_first);
}

}  // namespace
}  // namespace ringside
