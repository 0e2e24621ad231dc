// Case K4: the auxiliary loss does not depend on how many stages the layers of experts are cut
// into; what is printed, and what is applied.
#include <gtest/gtest.h>

#include "tests/support/program.hpp"

namespace ringside {
namespace {

using Json = nlohmann::json;

Json check(const Json& document, const std::string& name) {
  for (const Json& row : document["checks"]) {
    if (row["name"] == name) {
      return row;
    }
  }
  return {};
}

// Four layers of experts, four micro-batches, f32.
Json document_of(int stages, double coefficient) {
  const Ended ended =
      run_program("run ep/dispatch --json --log none --ranks " + std::to_string(stages) +
                  " --set parallel.ep=1 --set parallel.pp=" + std::to_string(stages) +
                  " --set parallel.microbatches=4 --set model.layers=4 --set model.balance=" +
                  std::to_string(coefficient) + " --set 'checks.run=[\"gradients\", \"routing\"]'");
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  return ended.document();
}

TEST(CaseK4, TheAuxiliaryLossDoesNotDependOnTheStages) {
  const Json alone = document_of(1, 0.5);
  const double balance = check(alone, "routing.balance_loss")["measured"];
  EXPECT_GT(balance, 1);
  for (const int stages : {2, 4}) {
    const Json cut = document_of(stages, 0.5);
    EXPECT_NEAR(check(cut, "routing.balance_loss")["measured"].get<double>(), balance, 1e-6);
    EXPECT_EQ(check(cut, "f32.gradient")["verdict"], "pass");
  }
  // Applied it is: without it the last losses, and the balance, are others.
  const Json without = document_of(4, 0);
  EXPECT_GT(std::abs(check(without, "routing.balance_loss")["measured"].get<double>() - balance),
            1e-4);
}

}  // namespace
}  // namespace ringside
