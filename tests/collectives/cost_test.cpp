// Costs: the bytes that each rank sends and the steps that a call takes are what its row claims.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <vector>

#include "collectives/chunk.hpp"
#include "collectives/collectives.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

struct Cost {
  std::int64_t sent = 0;
  std::int64_t received = 0;
  Time took{0};
};

Cost exchanged(Rank& rank) {
  Cost cost;
  for (const auto& sum : rank.traffic().sums()) {
    cost.sent += sum.sent_bytes;
    cost.received += sum.received_bytes;
  }
  return cost;
}

// What one call costs this rank, when all ranks begin at the same modelled time.
template <class Run>
Cost cost_of(Rank& rank, Run&& run) {
  const Time start = rank.now() - rank.now() % Time(1s) + Time(1s);
  rank.advance_to(start);
  const Cost before = exchanged(rank);
  run();
  const Cost after = exchanged(rank);
  return {after.sent - before.sent, after.received - before.received, rank.now() - start};
}

// A message costs 1 us, however long: modelled time counts steps.
JobOptions counting_steps(const JobShape& shape) {
  JobOptions options = shape.options();
  options.cluster.nvlink = options.cluster.ib = {Rate{}, 1us};
  return options;
}

std::vector<std::size_t> counts(std::string_view operation, int p) {
  const auto ranks = static_cast<std::size_t>(p);
  return operation == "all_to_all"
             ? std::vector<std::size_t>{0, ranks, 100 * ranks}
             : std::vector<std::size_t>{0, 1, ranks - 1, ranks, ranks + 1, 997};
}

// Whether all nodes have as many ranks.
bool even(const Shape& shape) {
  return shape.p % static_cast<int>(std::count(shape.node_of.begin(), shape.node_of.end(), 0)) == 0;
}

// "" when the costs of the ranks are what a row claims of one call.
std::string difference(const OperationRow& row, const std::vector<Cost>& costs, Shape shape) {
  const int p = shape.p;
  Cost all;
  for (int r = 0; r < p; ++r) {
    const Cost& cost = costs[static_cast<std::size_t>(r)];
    shape.rank = (r - shape.root + p) % p;
    const auto claim = static_cast<std::int64_t>(8 * row.sent(shape));
    if (cost.sent != claim) {
      return "rank " + std::to_string(r) + " sent " + std::to_string(cost.sent) + " bytes, not " +
             std::to_string(claim);
    }
    all = {all.sent + cost.sent, all.received + cost.received, std::max(all.took, cost.took)};
  }
  if (all.sent != all.received) {
    return "what was sent is not what was received";
  }
  const auto steps = all.took / Time(1us);
  const bool fewer_allowed = !even(shape);  // the claim of nodes of different sizes is a bound
  return steps == row.steps(shape) || (fewer_allowed && steps < row.steps(shape))
             ? ""
             : std::to_string(steps) + " steps, not " + std::to_string(row.steps(shape));
}

using RunCounted = std::function<void(Comm&, std::size_t n, int root, Buffer data, Buffer out)>;

// Runs p ranks on every count and root, and gives the first difference from what the row claims.
std::string first_difference(const JobOptions& options, int p, const OperationRow& row,
                             const RunCounted& run) {
  std::vector<std::pair<std::size_t, int>> calls;
  for (const auto n : counts(row.operation, p)) {
    calls.emplace_back(n, 0);
    if (row.rooted) {
      calls.emplace_back(n, p - 1);
    }
  }
  const auto costs = run_ranks_tested(p, options, [&](Rank& rank) {
    std::vector<Cost> mine;
    for (const auto& [n, root] : calls) {
      const Tensor data(rank.memory(), DType::f64, {n}, Category::buffers, "data");
      const Tensor out(rank.memory(), DType::f64, {n}, Category::buffers, "out");
      mine.push_back(
          cost_of(rank, [&] { run(rank.world(), n, root, data.buffer(), out.buffer()); }));
    }
    return mine;
  });
  for (std::size_t c = 0; c < calls.size(); ++c) {
    std::vector<Cost> of_call;
    for (const auto& mine : costs) {
      of_call.push_back(mine[c]);
    }
    Shape shape{.p = p, .n = calls[c].first, .root = calls[c].second};
    for (int r = 0; r < p; ++r) {
      shape.node_of.push_back(options.cluster.node_of(r));
    }
    const auto text = difference(row, of_call, shape);
    if (!text.empty()) {
      return std::string(row.operation) + " " + std::string(row.algorithm) + " of " +
             std::to_string(calls[c].first) + " over " + std::to_string(p) + ": " + text;
    }
  }
  return "";
}

class CostClaims : public ShapedTest {};

TEST_P(CostClaims, BytesAndStepsAreExact) {
  for (const int p : {1, 2, 3, 4, 5, 6, 7, 8}) {
    for (const auto& row : operation_rows()) {
      const auto run = [&](Comm& comm, std::size_t, int root, Buffer data, Buffer out) {
        run_operation(comm, row.operation, row.algorithm, data, out, ReduceOp::sum, root);
      };
      EXPECT_EQ(first_difference(counting_steps(GetParam()), p, row, run), "");
    }
  }
}

const OperationRow& row_of(std::string_view operation, std::string_view algorithm) {
  const auto rows = operation_rows();
  return *std::find_if(rows.begin(), rows.end(), [&](const OperationRow& row) {
    return row.operation == operation && row.algorithm == algorithm;
  });
}

// Negative controls: the right result at another price.
TEST_P(CostClaims, ADearerAlgorithmIsCaught) {
  const auto options = counting_steps(GetParam());
  const auto& ring = row_of("all_reduce", "ring");
  const auto with = [&](auto&& more) {
    return [&ring, more](Comm& comm, std::size_t, int, Buffer data, Buffer out) {
      run_operation(comm, ring.operation, ring.algorithm, data, out, ReduceOp::sum, 0);
      more(comm, data);
    };
  };
  const auto nothing = [](Comm&, Buffer) {};
  const auto one_more_step = [](Comm& comm, Buffer) {
    comm.send_recv(comm.next(), {}, comm.prev(), {});
  };
  const auto one_more_element = [](Comm& comm, Buffer data) {
    const Buffer first = data.slice(0, std::min(data.count, 1UL));
    comm.send_recv(comm.next(), first, comm.prev(), first);
  };
  EXPECT_EQ(first_difference(options, 3, ring, with(nothing)), "");
  EXPECT_EQ(first_difference(options, 3, ring, with(one_more_step)),
            "all_reduce ring of 0 over 3: 5 steps, not 4");
  EXPECT_EQ(first_difference(options, 3, ring, with(one_more_element)),
            "all_reduce ring of 0 over 3: 5 steps, not 4");
  const auto& naive = row_of("all_reduce", "naive");
  EXPECT_EQ(first_difference(options, 3, naive, with(nothing)),
            "all_reduce naive of 0 over 3: 4 steps, not 2");
}

// ---- What the papers say, in numbers that nothing here has computed.
// -----------------------------

// 8 ranks on one node, 8000 elements, a root at rank 0; then two nodes of four.
struct Published {
  std::string_view operation;
  std::string_view algorithm;
  int steps;
  std::size_t first;  // elements that rank 0 sends
  std::size_t last;   // that rank 7 sends
  std::size_t all;
  int steps_on_two = -1;  // -1: as on one node
  std::size_t first_on_two = 0;
  std::size_t last_on_two = 0;
  std::size_t all_on_two = 0;
};

constexpr std::array published{
    Published{"all_reduce", "naive", 2, 56'000, 8'000, 112'000},   // (p-1) n at the root
    Published{"all_reduce", "ring", 14, 14'000, 14'000, 112'000},  // 2 (p-1) n/p
    Published{"all_reduce", "recursive_doubling", 3, 24'000, 24'000, 192'000},  // n log2 p
    Published{"all_reduce", "rabenseifner", 6, 14'000, 14'000, 112'000},
    // On one node the ring; on two 3 hops of 2000, one of 1000, and the same back.
    Published{"all_reduce", "hierarchical", 14, 14'000, 14'000, 112'000, 8, 14'000, 14'000,
              112'000},
    Published{"all_reduce", "one_shot", 1, 56'000, 56'000, 448'000},
    Published{"all_reduce", "direct", 2, 14'000, 14'000, 112'000},
    Published{"reduce_scatter", "ring", 7, 7'000, 7'000, 56'000},  // (p-1) n/p
    Published{"reduce_scatter", "direct", 1, 7'000, 7'000, 56'000},
    Published{"all_gather", "ring", 7, 7'000, 7'000, 56'000},
    Published{"all_gather", "bruck", 3, 7'000, 7'000, 56'000},  // 1 + 2 + 4 chunks
    // On two nodes 3 hops of 1000; a first one sends 4000 across, and 4000 to each of its three.
    Published{"all_gather", "hierarchical", 7, 7'000, 7'000, 56'000, 5, 19'000, 3'000, 56'000},
    Published{"all_gather", "direct", 1, 7'000, 7'000, 56'000},
    Published{"all_to_all", "pairwise", 7, 7'000, 7'000, 56'000},
    // On two nodes 4000 across, 3000 inside, and 3 x 1000 forwarded.
    Published{"all_to_all", "hierarchical", 1, 7'000, 7'000, 56'000, 2, 10'000, 10'000, 80'000},
    Published{"all_to_all", "direct", 1, 7'000, 7'000, 56'000},
    Published{"broadcast", "linear", 1, 56'000, 0, 56'000},
    Published{"broadcast", "binomial_tree", 3, 24'000, 0, 56'000},  // log2 p copies at the root
    Published{"reduce", "linear", 1, 0, 8'000, 56'000},
    Published{"reduce", "binomial_tree", 3, 0, 8'000, 56'000},
    Published{"gather", "linear", 1, 0, 1'000, 7'000},
    Published{"scatter", "linear", 1, 7'000, 0, 7'000},
    Published{"barrier", "dissemination", 3, 0, 0, 0},  // log2 p rounds
};

void expect_published(const OperationRow& row, Shape shape, const Published& p, bool two) {
  const std::string name = std::string(row.operation) + " " + std::string(row.algorithm);
  std::size_t all = 0;
  for (shape.rank = 0; shape.rank < 8; ++shape.rank) {
    all += row.sent(shape);
  }
  EXPECT_EQ(all, two ? p.all_on_two : p.all) << name;
  shape.rank = 7;
  EXPECT_EQ(row.sent(shape), two ? p.last_on_two : p.last) << name;
  shape.rank = 0;
  EXPECT_EQ(row.sent(shape), two ? p.first_on_two : p.first) << name;
  EXPECT_EQ(row.steps(shape), two ? p.steps_on_two : p.steps) << name;
}

// Messages are held to the claims by CostClaims, and the claims by this.
TEST(Claims, OfEveryShippedRowAreWhatIsPublished) {
  for (const auto& p : published) {
    const auto& row = row_of(p.operation, p.algorithm);
    expect_published(row, {.p = 8, .n = 8000, .node_of = std::vector<int>(8, 0)}, p, false);
    expect_published(row, {.p = 8, .n = 8000, .node_of = {0, 0, 0, 0, 1, 1, 1, 1}}, p,
                     p.steps_on_two >= 0);
  }
}

// The claims themselves, against the formulas of the field.
TEST(Claims, OfARingAddUpToTwiceAllButOneCopy) {
  const auto& ring = row_of("all_reduce", "ring");
  for (int p = 1; p <= 16; ++p) {
    for (const std::size_t n : {0UL, 1UL, 7UL, 16UL, 1000UL, 720'720UL}) {
      std::size_t all = 0;
      for (int r = 0; r < p; ++r) {
        all += ring.sent({.p = p, .n = n, .rank = r});
        if (n % static_cast<std::size_t>(p) == 0) {
          EXPECT_EQ(ring.sent({.p = p, .n = n, .rank = r}),
                    2 * n / static_cast<std::size_t>(p) * static_cast<std::size_t>(p - 1));
        }
      }
      EXPECT_EQ(all, 2 * static_cast<std::size_t>(p - 1) * n);
    }
    EXPECT_EQ(ring.steps({.p = p}), 2 * (p - 1));
  }
}

// What 8 ranks send of n elements, however they are cut.
std::size_t sent_in_all(const OperationRow& row, std::size_t n) {
  if (row.algorithm == "one_shot") {
    return 56 * n;
  }
  if (row.algorithm == "recursive_doubling") {
    return 24 * n;
  }
  if (row.operation == "gather" || row.operation == "scatter") {
    return n - chunk_of(n, 8, 0).count;
  }
  return row.operation == "all_reduce" ? 14 * n : row.operation == "barrier" ? 0 : 7 * n;
}

TEST(CaseA7, ClaimsOfLargeCountsDoNotWrap) {
  constexpr std::size_t n = 3'218'569'051;
  const auto& naive = row_of("all_reduce", "naive");
  const auto& ring = row_of("all_reduce", "ring");
  EXPECT_EQ(ring.sent({.p = 2, .n = n}), n);
  EXPECT_EQ(ring.sent({.p = 8, .n = n}), 5'632'495'838U);  // 2 n, less two chunks of 402,321,132
  EXPECT_EQ(naive.sent({.p = 8, .n = n}), 7 * n);
  EXPECT_EQ(naive.sent({.p = 16'384, .n = n}), 52'729'816'762'533U);
  constexpr std::size_t even = n - n % 8;
  for (const auto& shipped : published) {  // a row of your own sends what it sends
    const auto& row = row_of(shipped.operation, shipped.algorithm);
    std::size_t all = 0;
    for (int r = 0; r < 8; ++r) {
      all += row.sent({.p = 8, .n = row.equal_parts ? even : n, .rank = r});
    }
    EXPECT_EQ(all, sent_in_all(row, row.equal_parts ? even : n))
        << row.operation << " " << row.algorithm;
  }
}

TEST_P(CostClaims, NaiveGathersEverythingAtRank0) {
  const auto costs = run_ranks_tested(8, GetParam().options(), [](Rank& rank) {
    const Tensor data(rank.memory(), DType::f64, {1001}, Category::buffers, "data");
    return cost_of(rank, [&] {
      run_operation(rank.world(), "all_reduce", "naive", data.buffer(), {}, ReduceOp::sum, 0);
    });
  });
  EXPECT_EQ(costs[0].received, 7 * 8008);
  EXPECT_EQ(costs[0].sent, 7 * 8008);
  EXPECT_EQ(costs[5].sent, 8008);
}

INSTANTIATE_TEST_SUITE_P(Shapes, CostClaims, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
