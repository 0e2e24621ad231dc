// docs/collectives.md shows the tables of algorithms and of "auto" as they are, and has a section
// for every algorithm. The orders of additions in it are read off runs on symbols.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "collectives/auto_rows.hpp"
#include "collectives/collectives.hpp"
#include "collectives/expressions.hpp"
#include "collectives/symbolic_run.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using namespace std::chrono_literals;

std::string document() {
  std::ifstream in(RINGSIDE_SOURCE_DIR "/docs/collectives.md");
  return {std::istreambuf_iterator<char>(in), {}};
}

// What stands between the marks of a table.
std::string shown(const std::string& name) {
  const std::string text = document();
  const auto mark = text.find("<!-- " + name + ":");
  const auto end = text.find("<!-- end of " + name + " -->");
  if (mark == std::string::npos || end == std::string::npos) {
    return "no marks";
  }
  const auto begin = text.find('\n', mark) + 1;
  return text.substr(begin, end - begin);
}

std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  for (auto at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

// How 5 ranks in nodes of 2 compute element 0, as rank 0 has it.
std::string order_of_additions(const OperationRow& row) {
  const SymbolicRun run = run_on_symbols({.run = run_row(row.algorithm),
                                          .ranks = 5,
                                          .gpus_per_node = 2,
                                          .calls = {{row.operation, 5, ReduceOp::sum, 0}}});
  if (run.failure) {
    return *run.failure;
  }
  return Expressions(run.tables).text(run.calls[0][0].result[0], 0);
}

std::string costs(const OperationRow& row) {
  Shape shape{.p = 8, .n = 8000, .node_of = {0, 0, 0, 0, 1, 1, 1, 1}};
  std::size_t most = 0;
  std::size_t all = 0;
  for (shape.rank = 0; shape.rank < 8; ++shape.rank) {
    most = std::max(most, row.sent(shape));
    all += row.sent(shape);
  }
  shape.rank = 0;
  return std::to_string(row.steps(shape)) + " | " + with_commas(most) + " | " + with_commas(all);
}

// The rows that the document shows. One of your own need not be here, nor in the document.
bool documented(const OperationRow& row) {
  static const std::set<std::string> shipped{
      "all_reduce naive",        "all_reduce ring",         "all_reduce recursive_doubling",
      "all_reduce rabenseifner", "all_reduce hierarchical", "all_reduce one_shot",
      "all_reduce direct",       "reduce_scatter ring",     "reduce_scatter direct",
      "all_gather ring",         "all_gather bruck",        "all_gather hierarchical",
      "all_gather direct",       "all_to_all pairwise",     "all_to_all hierarchical",
      "all_to_all direct",       "broadcast linear",        "broadcast binomial_tree",
      "reduce linear",           "reduce binomial_tree",    "gather linear",
      "scatter linear",          "barrier dissemination"};
  return shipped.contains(std::string(row.operation) + " " + std::string(row.algorithm));
}

std::string algorithms_table(std::span<const OperationRow> rows) {
  std::string text =
      "\n| operation | algorithm | steps | most sent | all send | order of additions | paper |\n"
      "|---|---|---:|---:|---:|---|---|\n";
  for (const auto& row : rows) {
    if (!documented(row)) {
      continue;
    }
    text += "| " + std::string(row.operation) + " | `" + std::string(row.algorithm) + "` | " +
            costs(row) + " | " + (row.reduces ? "`" + order_of_additions(row) + "`" : "–") + " | " +
            std::string(row.paper) + " |\n";
  }
  return text + "\n";
}

std::string auto_table() {
  std::string text = "\n| operation | nodes | bytes | algorithm |\n|---|---|---|---|\n";
  for (const auto& row : auto_rows()) {
    const bool limited = row.up_to != std::numeric_limits<std::size_t>::max();
    text += "| " + std::string(row.operation) + " | " + (row.nodes ? "several" : "one") + " | " +
            (limited ? "up to " + std::to_string(row.up_to) : "any") + " | `" +
            std::string(row.algorithm) + "` |\n";
  }
  return text + "\n";
}

TEST(CollectivesDocument, HasARowForEveryAlgorithmAndNoOther) {
  const auto table = algorithms_table(operation_rows());
  EXPECT_EQ(shown("algorithms"), table) << "write this between the marks:\n" << table;
}

// CONTRIBUTING.md: a function and a row, that is all.
TEST(CollectivesDocument, WantsNothingForARowOfYourOwn) {
  std::vector<OperationRow> rows(operation_rows().begin(), operation_rows().end());
  rows.push_back(rows.front());
  rows.back().algorithm = "mine";
  EXPECT_EQ(shown("algorithms"), algorithms_table(rows));
}

TEST(CollectivesDocument, ShowsTheTableOfAuto) {
  EXPECT_EQ(shown("auto"), auto_table()) << "write this between the marks:\n" << auto_table();
}

TEST(CollectivesDocument, HasASectionForEveryAlgorithmAndNoOther) {
  std::multiset<std::string> expected;
  for (const auto& row : operation_rows()) {
    if (documented(row)) {
      expected.insert(std::string(row.operation) + " " + std::string(row.algorithm));
    }
  }
  std::multiset<std::string> sections;
  const std::string text = document();
  const std::string mark = "\n### ";
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const auto begin = at + mark.size();
    sections.insert(text.substr(begin, text.find('\n', begin) - begin));
  }
  EXPECT_EQ(sections, expected);
}

// The times of the section "Ring and direct", in one node: 2 (p-1) (L + n/pB), 2 (L + (p-1) n/pB).
TEST(CollectivesDocument, RingIsNeverFasterThanDirectOnAModelledSwitch) {
  for (const int p : {2, 3, 4, 8}) {
    for (const std::size_t each : {1UL, 250UL}) {  // KB a chunk
      const auto times = run_ranks_tested(p, {}, [&](Rank& rank) {
        std::vector<Time> took;
        const std::size_t n = each * 1000 / 4 * static_cast<std::size_t>(p);
        const Tensor data(rank.memory(), DType::f32, {n}, Category::buffers, "data");
        for (const std::string_view name : {"ring", "direct"}) {
          const Time start = rank.now() - rank.now() % Time(1s) + Time(1s);
          rank.advance_to(start);
          run_operation(rank.world(), "all_reduce", name, data.buffer(), {}, ReduceOp::sum, 0);
          took.push_back(rank.now() - start);
        }
        return took;
      });
      const Time hop(1us);
      const Time chunk(static_cast<std::int64_t>(each) * 6'250);  // 160 GB/s
      for (const auto& of_rank : times) {
        EXPECT_EQ(of_rank[0], 2 * (p - 1) * (hop + chunk)) << p;
        EXPECT_EQ(of_rank[1], 2 * (hop + (p - 1) * chunk)) << p;
        EXPECT_EQ(of_rank[0] - of_rank[1], 2 * (p - 2) * hop);
      }
    }
  }
}

}  // namespace
}  // namespace ringside
