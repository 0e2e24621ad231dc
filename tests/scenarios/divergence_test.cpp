// Training with a wrong all-reduce: every planted fault is caught, and the right ones are not.
#include "scenarios/divergence.hpp"

#include <gtest/gtest.h>

#include "models/text.hpp"
#include "runtime/errors.hpp"
#include "tests/support/planted_all_reduces.hpp"

namespace ringside {
namespace {

Settings small(const std::string& all_reduce) {
  Settings s;
  s.ranks = 4;
  s.cluster.gpus_per_node = 4;
  s.model = {.config = {}, .context = 4, .embedding = 4, .hidden = 17, .layers = 1, .sequence = 8};
  s.train.batch = 12;
  s.dp.bucket = Bytes{4096};
  s.collectives.all_reduce = all_reduce;
  return s;
}

Divergence divergence_of(const Settings& settings, const AllReduce* planted) {
  JobOptions options;
  options.limit = std::chrono::seconds(1);
  return find_divergence(
      {.settings = settings, .text = builtin_text(), .options = options, .planted = planted});
}

TEST(Divergence, IsFoundForEveryPlantedFault) {
  const Settings s = small("ring");
  for (const AllReduce& planted : planted_all_reduces()) {
    try {
      const Divergence found = divergence_of(s, &planted);
      // Buckets are multiples of the ranks: there is no tail to lose.
      EXPECT_EQ(found.first.has_value(), planted.name != "tail_lost") << planted.name;
      if (found.first) {
        EXPECT_EQ(found.first->step, 1) << planted.name;
        EXPECT_FALSE(found.first->cause.empty()) << planted.name;
      }
    } catch (const std::exception& error) {
      EXPECT_TRUE(planted.name == "blocking_sends" || planted.name == "gather_wrong_direction" ||
                  planted.name == "next_chunk_lent")
          << planted.name << ": " << error.what();
    }
  }
}

TEST(Divergence, IsNotFoundWhereThereIsNone) {
  for (const AllReduce& row : all_reduce_algorithms()) {
    EXPECT_FALSE(divergence_of(small(std::string(row.name)), nullptr).first) << row.name;
  }
}

TEST(Divergence, NamesThePartThatIsMissing) {
  const auto rows = planted_all_reduces();
  const auto planted = std::find_if(rows.begin(), rows.end(),
                                    [](const auto& row) { return row.name == "one_rank_copies"; });
  const Divergence found = divergence_of(small("ring"), &*planted);
  ASSERT_TRUE(found.first);
  EXPECT_EQ(found.first->bucket, 0);
  EXPECT_NE(
      found.first->cause.find("missing: rank 2; in step 0 of rank 2: rank 2 overwrote its own "
                              "part"),
      std::string::npos)
      << found.first->cause;
  ASSERT_EQ(found.drifts.size(), 2U);
  EXPECT_EQ(found.drifts[0].optimizer, "sgd");
  EXPECT_EQ(found.drifts[1].optimizer, "adamw");
  EXPECT_GT(found.drifts[0].steps.back().parameters, found.drifts[0].steps.front().parameters);
  const std::string text = divergence_text(found);
  EXPECT_NE(text.find("training step 1, bucket 0, chunk 0, element 0, on rank 0"),
            std::string::npos)
      << text;
}

// The same parts in another order on each rank: called what it is.
TEST(Divergence, OfTheOrderOfAdditionsIsCalledThat) {
  const auto rows = planted_all_reduces();
  const auto planted = std::find_if(rows.begin(), rows.end(),
                                    [](const auto& row) { return row.name == "own_part_first"; });
  const Divergence found = divergence_of(small("ring"), &*planted);
  ASSERT_TRUE(found.first);
  EXPECT_EQ(found.first->cause.find("order: every part is in once"), 0U) << found.first->cause;
}

}  // namespace
}  // namespace ringside
