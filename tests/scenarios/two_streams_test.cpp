// time/two_streams as a user runs it: the ends of its comment, other links, and what it refuses.
#include <gtest/gtest.h>

#include "tests/support/program.hpp"

namespace ringside {
namespace {

const std::string two_streams = "run time/two_streams --json --trace off";

nlohmann::json check(const nlohmann::json& document, const std::string& name) {
  for (const auto& row : document["checks"]) {
    if (row["name"] == name) {
      return row;
    }
  }
  ADD_FAILURE() << "no check " << name;
  return {};
}

TEST(TwoStreams, EndAsTheFileSays) {
  const auto document = run_program(two_streams).document();
  EXPECT_EQ(document["verdict"], "pass");
  EXPECT_EQ(check(document, "time.two_streams.product")["measured"], 20'000'000);
  EXPECT_EQ(check(document, "time.two_streams.direct")["measured"], 170'000'000);
  EXPECT_EQ(check(document, "time.two_streams.ring")["measured"], 290'000'000);
  EXPECT_EQ(check(document, "time.two_streams.direct_again")["measured"], 310'000'000);
  for (const std::string fault :
       {"unlimited_concurrency", "one_queue", "gaps_are_load", "debts_unpaid"}) {
    EXPECT_EQ(check(document, "control." + fault)["verdict"], "pass");
  }
}

TEST(TwoStreams, MeetTheClosedFormOnLinksThatDivideBadly) {
  const auto ended = run_program(two_streams +
                                 " --set links.nvlink.bandwidth='1.000000007 GB/s'"
                                 " --set cluster.flops='99.999999937 GFLOP/s'"
                                 " --set links.nvlink.latency='70.000001 us' --eager-limit 0");
  EXPECT_EQ(ended.exit_code, 0) << ended.out << ended.err;
  EXPECT_EQ(check(ended.document(), "time.two_streams.ring")["verdict"], "pass");
}

TEST(TwoStreams, WhereTheyMeetInAnotherOrderTheClosedFormIsNotApplicable) {
  const auto ended = run_program(two_streams + " --set links.nvlink.latency='10 us'");
  EXPECT_EQ(ended.exit_code, 0) << ended.err;
  EXPECT_EQ(check(ended.document(), "time.two_streams")["verdict"], "not_applicable");
}

TEST(TwoStreams, AreOfThreeRanksInOneNode) {
  const auto ended = run_program("run time/two_streams --ranks 4");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_NE(ended.err.find("3 ranks in one node"), std::string::npos) << ended.err;
}

}  // namespace
}  // namespace ringside
