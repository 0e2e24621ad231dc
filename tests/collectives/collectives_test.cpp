// Every row of every operation's table against the operation's definition: all types, reductions,
// sizes and numbers of ranks in one process a rank; a part of that the other ways.
#include "collectives/collectives.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "tests/collectives/reference.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

const std::vector<DType> all_types{DType::f32, DType::f64, DType::bf16, DType::f16,
                                   DType::i32, DType::i64, DType::u8};
const std::vector<ReduceOp> all_reductions{ReduceOp::sum, ReduceOp::prod, ReduceOp::min,
                                           ReduceOp::max, ReduceOp::avg};

std::vector<std::size_t> counts(std::string_view operation, int p) {
  const auto ranks = static_cast<std::size_t>(p);
  if (operation == "barrier") {
    return {0};
  }
  if (operation == "all_to_all") {
    return {0, ranks, 2 * ranks, 125 * ranks};
  }
  return {0, 1, ranks - 1, ranks, ranks + 1, 997, 1000};
}

std::set<int> roots(const OperationRow& row, int p) {
  return row.rooted ? std::set<int>{0, p / 2, p - 1} : std::set<int>{0};
}

// The first fault of this rank over all calls of a row.
std::string fault_of(Comm& comm, const OperationRow& row, const std::vector<DType>& types) {
  const auto reductions = row.reduces ? all_reductions : std::vector<ReduceOp>{ReduceOp::none};
  for (const auto count : counts(row.operation, comm.size())) {
    for (const auto dtype : types) {
      for (const auto op : reductions) {
        for (const int root : roots(row, comm.size())) {
          const Call call{row.operation, count, dtype, op, root};
          const std::string fault = judge(comm, call, [&](Comm& c, Buffer data, Buffer out) {
            run_operation(c, row.operation, row.algorithm, data, out, op, root);
          });
          if (!fault.empty()) {
            return std::string(row.algorithm) + " " + fault;
          }
        }
      }
    }
  }
  return "";
}

class Collectives : public ShapedTest {
 protected:
  // A rank that has found a fault leaves: the others need not wait long for it.
  JobOptions options() const {
    JobOptions options = GetParam().options();
    options.limit = std::chrono::seconds(10);
    return options;
  }
};

TEST_P(Collectives, GiveWhatTheirDefinitionSays) {
  const std::vector<int> sizes = GetParam().name == "Processes"
                                     ? std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}
                                     : std::vector<int>{5, 8};
  for (const int p : sizes) {
    run_ranks_tested(p, options(), [&](Rank& rank) {
      for (const auto& row : operation_rows()) {
        ASSERT_EQ(fault_of(rank.world(), row, all_types), "");
      }
    });
  }
}

// In a group whose order is not the world's, while the other ranks are in a group of their own.
TEST_P(Collectives, WorkInPartsOfTheWorld) {
  run_ranks_tested(8, options(), [](Rank& rank) {
    const auto group = rank.world().split(rank.id() % 3 == 0 ? 0 : 1, -rank.id());
    for (const auto& row : operation_rows()) {
      ASSERT_EQ(fault_of(*group, row, {DType::i64}), "");
    }
  });
}

TEST(Tables, AreNotEmptyAndHaveNoNameTwice) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  std::set<std::string_view> operations;
  for (const auto& row : operation_rows()) {
    EXPECT_TRUE(names.insert({row.operation, row.algorithm}).second) << row.algorithm;
    EXPECT_FALSE(row.paper.empty()) << row.operation << " " << row.algorithm;
    EXPECT_LT(row.operation.size(), sizeof(Signature{}.operation.chars)) << "would be cut";
    EXPECT_LT(row.algorithm.size(), sizeof(Signature{}.algorithm.chars)) << "would be cut";
    operations.insert(row.operation);
  }
  EXPECT_EQ(operations,
            (std::set<std::string_view>{"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                        "broadcast", "reduce", "gather", "scatter", "barrier"}));
}

TEST(Tables, WrongNamesAreRefusedWithThoseThatExist) {
  run_ranks_tested(1, {}, [](Rank& rank) {
    const auto refusal = [&](std::string_view operation, std::string_view algorithm, int root) {
      try {
        run_operation(rank.world(), operation, algorithm, {}, {}, ReduceOp::sum, root);
      } catch (const BadUse& error) {
        return std::string(error.what());
      }
      return std::string("nothing was refused");
    };
    EXPECT_EQ(refusal("all_reduce", "rings", 0),
              "no algorithm of all_reduce is called \"rings\": choose one of auto, naive, ring, "
              "recursive_doubling, rabenseifner, hierarchical, one_shot, direct");
    EXPECT_EQ(refusal("allreduce", "ring", 0), "there is no operation \"allreduce\"");
    EXPECT_EQ(refusal("broadcast", "linear", 1),
              "broadcast on group world: there is no rank 1 among 1");
    EXPECT_EQ(refusal("broadcast", "linear", -1),
              "broadcast on group world: there is no rank -1 among 1");
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Collectives, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
