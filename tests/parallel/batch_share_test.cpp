// The samples of a rank's micro-batch: every sample of every step once, numbered from where the
// training goes on.
#include "parallel/batch_share.hpp"

#include <gtest/gtest.h>

#include "models/text.hpp"

namespace ringside {
namespace {

TEST(BatchShare, EverySampleIsInOneMicrobatchOfOneRankInOrder) {
  for (const std::uint64_t batch : {0U, 1U, 7U, 8U, 61U}) {
    for (const int ranks : {1, 2, 3, 8}) {
      for (const int microbatches : {1, 2, 5}) {
        std::uint64_t next = 0;
        for (int r = 0; r < ranks; ++r) {
          for (int m = 0; m < microbatches; ++m) {
            const auto [first, count] = samples_of(batch, {r, ranks, microbatches}, m);
            EXPECT_TRUE(count == 0 || first == next);
            next += count;
          }
        }
        EXPECT_EQ(next, batch);
      }
    }
  }
}

TEST(BatchShare, ShortPartsComeLast) {
  const auto counts = [](std::uint64_t batch, int rank) {
    return std::pair(samples_of(batch, {rank, 2, 2}, 0).count,
                     samples_of(batch, {rank, 2, 2}, 1).count);
  };
  EXPECT_EQ(counts(7, 0), std::pair(std::uint64_t{2}, std::uint64_t{2}));
  EXPECT_EQ(counts(7, 1), std::pair(std::uint64_t{2}, std::uint64_t{1}));
}

// Sample 0 of step 0 is the only one of another length, so lengths tell where a run begins.
TEST(BatchShare, TheStepsOfAResumedRunGoOnFromItsCheckpoint) {
  const auto lengths = [](std::int64_t step) {
    TrainingPlan plan;
    plan.data.text = builtin_text();
    plan.data.sequence = 16;
    plan.steps = 2;
    plan.batch = 4;
    if (step > 0) {
      plan.start = std::make_shared<const Checkpoint>(Checkpoint{.step = step});
    }
    std::vector<std::size_t> all;
    for_each_microbatch(plan, {0, 2, 2}, [&](int, const Batch& batch) {
      all.insert(all.end(), batch.lengths.begin(), batch.lengths.end());
    });
    return all;
  };
  EXPECT_EQ(lengths(0), (std::vector<std::size_t>{first_sample.size(), 16, 16, 16}));
  EXPECT_EQ(lengths(1), (std::vector<std::size_t>{16, 16, 16, 16}));
}

}  // namespace
}  // namespace ringside
