// Which ranks are stuck, from what an observer saw of them: no processes here.
#include "runtime/deadlock.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "runtime/deadlock_text.hpp"

namespace ringside {
namespace {

using RankList = std::vector<int>;

RankLook parked(std::vector<int> awaited, std::string_view kind = "recv",
                std::string_view operation = "", std::string_view group = "world") {
  RankLook look{.epoch = 1, .epoch_after = 1, .awaited = std::move(awaited)};
  look.wait = {.kind = kind, .peer = look.awaited.front(), .bytes = 4, .group = group};
  if (!operation.empty()) {
    look.wait.operation = operation;
    look.wait.algorithm = std::string_view("ring");
  }
  return look;
}

RankLook running() {
  return {.epoch = 2, .epoch_after = 2};
}

RankLook ended() {
  return {.epoch = 4, .epoch_after = 4, .ended = true};
}

TEST(Deadlock, ACycleIsStuckWhileOthersRun) {
  const std::vector<RankLook> looks{parked({2}), running(), parked({3}), parked({0}), parked({1})};
  EXPECT_EQ(stuck_ranks(looks), (RankList{0, 2, 3}));
  EXPECT_EQ(wait_cycles(looks, stuck_ranks(looks)), (std::vector<RankList>{{0, 2, 3}}));
}

TEST(Deadlock, WhoeverWaitsForAStuckRankIsStuckToo) {
  const std::vector<RankLook> looks{parked({1}), parked({2}), parked({1}), parked({0})};
  EXPECT_EQ(stuck_ranks(looks), (RankList{0, 1, 2, 3}));
  EXPECT_EQ(wait_cycles(looks, stuck_ranks(looks)), (std::vector<RankList>{{1, 2}}));
}

TEST(Deadlock, WhoeverWaitsForAnEndedRankIsStuck) {
  const std::vector<RankLook> looks{parked({1}), parked({2}), ended(), running()};
  EXPECT_EQ(stuck_ranks(looks), (RankList{0, 1}));
  EXPECT_TRUE(wait_cycles(looks, stuck_ranks(looks)).empty());
}

TEST(Deadlock, AWaitForItselfIsACycleOfOne) {
  const std::vector<RankLook> looks{running(), parked({1})};
  EXPECT_EQ(stuck_ranks(looks), (RankList{1}));
  EXPECT_EQ(wait_cycles(looks, {1}), (std::vector<RankList>{{1}}));
}

TEST(Deadlock, AWaitForNoRankIsNone) {
  std::vector<RankLook> looks{parked({1}), parked({0})};
  looks[1].awaited.clear();  // a flush
  EXPECT_TRUE(stuck_ranks(looks).empty());
}

TEST(Deadlock, WhatHasComeFreesACycleAndTheRuleIsNeeded) {
  std::vector<RankLook> looks{parked({1}), parked({2}), parked({0})};
  looks[1].has_come = true;
  EXPECT_TRUE(stuck_ranks(looks).empty());
  EXPECT_EQ(stuck_ranks(looks, {.what_has_come = false}), (RankList{0, 1, 2}));
}

TEST(Deadlock, AnEpochThatChangedFreesACycleAndTheRuleIsNeeded) {
  std::vector<RankLook> looks{parked({1}), parked({2}), parked({0})};
  looks[2].epoch_after = 3;  // it has waited, woken and parked again meanwhile
  EXPECT_TRUE(stuck_ranks(looks).empty());
  EXPECT_EQ(stuck_ranks(looks, {.second_epochs = false}), (RankList{0, 1, 2}));
}

TEST(Deadlock, AWaitForManyIsStuckWhenOneOfThemIs) {
  const std::vector<RankLook> looks{parked({1, 2, 3}), running(), running(), ended()};
  EXPECT_EQ(stuck_ranks(looks), (RankList{0}));
  const std::vector<RankLook> free{parked({1, 2}), running(), running(), ended()};
  EXPECT_TRUE(stuck_ranks(free).empty());
}

// The other way round: who can be freed, from those that run outwards.
std::vector<int> not_freeable(const std::vector<RankLook>& looks) {
  std::vector<bool> free(looks.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t r = 0; r < looks.size(); ++r) {
      const RankLook& look = looks[r];
      const bool waits = look.epoch % 2 == 1 && look.epoch == look.epoch_after && !look.has_come;
      const bool helped = std::all_of(look.awaited.begin(), look.awaited.end(), [&](int t) {
        const auto target = static_cast<std::size_t>(t);
        return free[target] && !looks[target].ended;
      });
      if (!free[r] && (!waits || look.ended || helped)) {
        free[r] = changed = true;
      }
    }
  }
  std::vector<int> stuck;
  for (std::size_t r = 0; r < looks.size(); ++r) {
    if (!free[r]) {
      stuck.push_back(static_cast<int>(r));
    }
  }
  return stuck;
}

std::vector<RankLook> any_looks() {
  const int n = *rc::gen::inRange(1, 12);
  std::vector<RankLook> looks(static_cast<std::size_t>(n));
  for (RankLook& look : looks) {
    look.epoch = *rc::gen::weightedElement<std::uint64_t>({{1, 2}, {6, 3}});
    look.epoch_after = look.epoch + *rc::gen::weightedElement<std::uint64_t>({{9, 0}, {1, 2}});
    look.ended = *rc::gen::weightedElement<bool>({{9, false}, {1, true}});
    look.has_come = *rc::gen::weightedElement<bool>({{9, false}, {1, true}});
    look.awaited = *rc::gen::container<std::vector<int>>(
        *rc::gen::weightedElement<std::size_t>({{1, 0}, {9, 1}, {1, 3}}), rc::gen::inRange(0, n));
  }
  return looks;
}

RC_GTEST_PROP(DeadlockProperty, AgreesWithFreeingOutwards, ()) {
  const auto looks = any_looks();
  RC_ASSERT(stuck_ranks(looks) == not_freeable(looks));
}

RC_GTEST_PROP(DeadlockProperty, EachCycleIsOneOfWaitsAndBeginsWithItsLowest, ()) {
  const auto looks = any_looks();
  const auto stuck = stuck_ranks(looks);
  for (const auto& cycle : wait_cycles(looks, stuck)) {
    RC_ASSERT(cycle.front() == *std::min_element(cycle.begin(), cycle.end()));
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const auto& awaited = looks[static_cast<std::size_t>(cycle[i])].awaited;
      const int next = cycle[(i + 1) % cycle.size()];
      RC_ASSERT(std::find(awaited.begin(), awaited.end(), next) != awaited.end());
      RC_ASSERT(std::binary_search(stuck.begin(), stuck.end(), cycle[i]));
    }
  }
}

// ---- texts --------------------------------------------------------------------------------------

TEST(DeadlockText, PrintsTheCycleInTheOrderOfTheWaits) {
  const std::vector<RankLook> looks{
      parked({2}, "recv", "all_reduce", "dp0"), parked({0}, "recv", "all_reduce", "tp0"),
      parked({3}, "recv", "all_reduce", "tp1"), parked({1}, "recv", "all_reduce", "dp1")};
  EXPECT_EQ(deadlock_text(looks, stuck_ranks(looks)),
            "deadlock: rank 0 -> 2 -> 3 -> 1 -> 0\n"
            "  rank 0: recv from rank 2 in group dp0, all_reduce (ring) #0, step 0, 4 B\n"
            "  rank 2: recv from rank 3 in group tp1, all_reduce (ring) #0, step 0, 4 B\n"
            "  rank 3: recv from rank 1 in group dp1, all_reduce (ring) #0, step 0, 4 B\n"
            "  rank 1: recv from rank 0 in group tp0, all_reduce (ring) #0, step 0, 4 B\n"
            "  every rank must call the operations of its groups in an order that fits all "
            "members");
}

TEST(DeadlockText, SaysWhoHasEnded) {
  const std::vector<RankLook> looks{parked({3}), parked({0}), running(), ended()};
  EXPECT_EQ(deadlock_text(looks, stuck_ranks(looks)),
            "deadlock: rank 0 waits for rank 3, which has ended\n"
            "  rank 0: recv from rank 3 in group world, tag 0, 4 B; waits for rank 3, which has "
            "ended\n"
            "  rank 1: recv from rank 0 in group world, tag 0, 4 B");
}

TEST(DeadlockText, SaysThatALaunchBlocks) {
  const std::vector<RankLook> looks{parked({1}, "recv", "all_reduce"), parked({0})};
  EXPECT_NE(deadlock_text(looks, {0, 1}).find("a launch is a blocking collective"),
            std::string::npos);
}

TEST(DeadlockText, StaysShortWithManyRanks) {
  std::vector<RankLook> looks;
  for (int r = 0; r < 1000; ++r) {
    looks.push_back(parked({(r + 1) % 1000}, "send"));
  }
  const std::string text = deadlock_text(looks, stuck_ranks(looks));
  EXPECT_NE(text.find("(936 more) -> 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("and 984 more"), std::string::npos) << text;
  EXPECT_NE(text.find("all in send, no receive posted"), std::string::npos) << text;
}

}  // namespace
}  // namespace ringside
