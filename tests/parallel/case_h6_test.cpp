// Case H6: one rank draws more random numbers than another. There is no stream of them that could
// diverge: a weight is a function of (seed, name, place), a sample of (seed, step, index). What can
// diverge is a seed, and the comparison of copies reports it.
#include <gtest/gtest.h>

#include "models/initialise.hpp"
#include "parallel/full_state.hpp"
#include "runtime/errors.hpp"
#include "tests/parallel/tensor_training.hpp"

namespace ringside {
namespace {

// Elements [first, first + count) of a vector of 8, as a rank that has only these draws them.
std::vector<double> drawn(DeviceMemory& memory, std::uint64_t seed, const std::string& name,
                          std::size_t first, std::size_t count) {
  ComputeClock clock;
  const auto parameter = make_parameter<double>({memory, clock}, name, {count}, 1.0, seed,
                                                {.whole = {8}, .dimension = 0, .first = first});
  const auto values = parameter.value.as<double>();
  return {values.begin(), values.end()};
}

TEST(CaseH6, ADrawIsAFunctionOfSeedNameAndPlaceInAnyOrderAndOnAnyRank) {
  DeviceMemory memory(1 << 20);
  const auto whole = drawn(memory, 1, "w", 0, 8);
  for (const int ranks : {1, 2, 4}) {
    for (const bool backwards : {false, true}) {
      run_ranks_tested(ranks, small_job(), [&](Rank& rank) {
        for (int extra = 0; extra < 3 && rank.id() == 0; ++extra) {
          drawn(rank.memory(), 99, "extra", 0, 8);
        }
        const std::size_t count = 8 / static_cast<std::size_t>(ranks);
        const int part = backwards ? ranks - 1 - rank.id() : rank.id();
        const std::size_t first = count * static_cast<std::size_t>(part);
        const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(first);
        EXPECT_EQ(drawn(rank.memory(), 1, "w", first, count),
                  std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(count)));
      });
    }
  }
  EXPECT_NE(drawn(memory, 2, "w", 0, 8), whole) << "the seed counts";
  EXPECT_NE(drawn(memory, 1, "v", 0, 8), whole) << "the name counts";
}

TEST(CaseH6, ASampleIsAFunctionOfSeedStepAndIndexInAnyOrder) {
  const DataSource source{.text = builtin_text(), .seed = 3};
  std::vector<std::string_view> forward;
  for (std::uint64_t i = 0; i < 12; ++i) {
    forward.push_back(sample(source, i / 4, i % 4));
  }
  for (std::uint64_t i = 12; i-- > 0;) {
    EXPECT_EQ(sample(source, i / 4, i % 4), forward[i]) << i;
  }
}

// The parameters of every rank after a training in which rank 0 draws `extra` models after each
// step.
std::vector<std::vector<double>> trained(int extra) {
  const auto plan = gpt_plan(small_gpt());
  const TensorTraining on{.mesh = {.tp = 2}};
  return run_ranks_tested(2, job_of(on, plan), [&](Rank& rank) {
    std::vector<double> all;
    train_tensor_rank(rank, on, plan, [&](int, const StepRecord& record, const auto&) {
      for (int i = 0; i < extra && rank.id() == 0; ++i) {
        make_gpt({rank.memory(), rank.clock()}, small_gpt(), 99);
      }
      all.clear();
      for (const auto& tensor : record.parameters) {
        all.insert(all.end(), tensor.begin(), tensor.end());
      }
    });
    return all;
  });
}

TEST(CaseH6, ExtraDrawsOnOneRankChangeNothing) {
  EXPECT_EQ(trained(3), trained(0));
}

// What the comparison of copies says of two ranks that share one KV head; empty: nothing.
std::string report_of_seeds(std::uint64_t of_rank_0, std::uint64_t of_rank_1) {
  GptConfig config = small_gpt();
  config.kv_heads = 1;
  try {
    run_ranks(2, {.region_bytes = 1U << 24}, [&](Rank& rank) {
      TensorParallel tp(rank.world(), rank.memory(), config);
      const auto model =
          make_gpt({rank.memory(), rank.clock()}, config, rank.id() == 0 ? of_rank_0 : of_rank_1,
                   {.cut = tp.cut(), .seam = tp.seam()});
      gather_state(rank.world(), weight_parts(flatten(model->layers())));
    });
  } catch (const BadUse& refused) {
    return refused.what();
  }
  return "";
}

TEST(CaseH6, ASeedThatDivergesIsReportedWithTensorElementAndRank) {
  EXPECT_EQ(report_of_seeds(1, 1), "");
  const std::string report = report_of_seeds(1, 2);
  EXPECT_NE(report.find("\"layers.0.attention.k.weight\": element 0 has other bits on rank 1"),
            std::string::npos)
      << report;
}

}  // namespace
}  // namespace ringside
