// Groups: by colour and key, by explicit lists of ranks, and kept apart from each other.
#include "runtime/comm.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/errors.hpp"
#include "tests/support/job_shapes.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

using Numbers = std::vector<std::int32_t>;

class Groups : public ShapedTest {};

std::vector<int> members_of(const Comm& comm) {
  std::vector<int> members;
  for (int r = 0; r < comm.size(); ++r) {
    members.push_back(comm.world_rank(r));
  }
  return members;
}

// Hands its own world rank once round the group; what comes from the left.
int heard_from_left(Comm& comm) {
  Numbers out{comm.world_rank(comm.rank())};
  Numbers in{-1};
  comm.send_recv(comm.next(), buffer_of(std::span(out)), comm.prev(), buffer_of(std::span(in)));
  return in[0];
}

TEST_P(Groups, SplitByColourAndKey) {
  run_ranks_tested(8, GetParam().options(), [](Rank& rank) {
    const int colour = rank.id() % 3;
    const auto group = rank.world().split(colour, -rank.id());
    const std::vector<std::vector<int>> expected{{6, 3, 0}, {7, 4, 1}, {5, 2}};
    const auto& members = expected[static_cast<std::size_t>(colour)];
    EXPECT_EQ(group->name(), "world/" + std::to_string(colour));
    EXPECT_EQ(members_of(*group), members);
    EXPECT_EQ(group->world_rank(group->rank()), rank.id());
    EXPECT_EQ(heard_from_left(*group), group->world_rank(group->prev()));
  });
}

TEST_P(Groups, EqualKeysKeepTheOrderAndSplitsCanBeSplit) {
  run_ranks_tested(8, GetParam().options(), [](Rank& rank) {
    const auto half = rank.world().split(rank.id() / 4, 0);
    const auto pair = half->split(half->rank() % 2, 0);
    const int first = rank.id() / 4 * 4 + rank.id() % 2;
    EXPECT_EQ(members_of(*pair), (std::vector<int>{first, first + 2}));
    EXPECT_EQ(pair->name(),
              "world/" + std::to_string(rank.id() / 4) + "/" + std::to_string(rank.id() % 2));
    EXPECT_EQ(heard_from_left(*pair), pair->world_rank(pair->prev()));
    EXPECT_EQ(heard_from_left(*half), half->world_rank(half->prev()));
  });
}

TEST_P(Groups, OneColourEachIsAGroupOfOne) {
  run_ranks_tested(3, GetParam().options(), [](Rank& rank) {
    const auto alone = rank.world().split(-rank.id(), 5);
    EXPECT_EQ(members_of(*alone), std::vector<int>{rank.id()});
    EXPECT_EQ(alone->next(), 0);
    EXPECT_EQ(alone->prev(), 0);
    EXPECT_EQ(heard_from_left(*alone), rank.id());
  });
}

TEST_P(Groups, AnExplicitListKeepsItsOrder) {
  run_ranks_tested(5, GetParam().options(), [](Rank& rank) {
    const std::vector<int> members{3, 0, 4};
    const auto place = std::find(members.begin(), members.end(), rank.id());
    if (place == members.end()) {
      return;
    }
    Comm group(rank, "tp", members);
    EXPECT_EQ(group.size(), 3);
    EXPECT_EQ(group.rank(), place - members.begin());
    EXPECT_EQ(heard_from_left(group), members[static_cast<std::size_t>(group.prev())]);
  });
}

// Rank 0 uses the second group first: what is sent on one is not received on the other.
void expect_apart(Rank& rank, Comm& first, Comm& second) {
  Numbers one{1};
  Numbers two{2};
  if (rank.id() == 0) {
    Request b = second.isend(1 - second.rank(), buffer_of(std::span(two)));
    Request a = first.isend(1 - first.rank(), buffer_of(std::span(one)));
    b.wait();
    a.wait();
  } else {
    Numbers in{-1};
    first.recv(1 - first.rank(), buffer_of(std::span(in)));
    EXPECT_EQ(in[0], 1);
    second.recv(1 - second.rank(), buffer_of(std::span(in)));
    EXPECT_EQ(in[0], 2);
  }
}

TEST_P(Groups, OfTheSameMembersDoNotMix) {
  run_ranks_tested(2, GetParam().options(), [](Rank& rank) {
    Comm first(rank, "g", {0, 1});
    Comm again(rank, "g", {0, 1});
    Comm other_name(rank, "h", {0, 1});
    Comm other_order(rank, "g", {1, 0});
    expect_apart(rank, first, again);
    expect_apart(rank, again, other_name);
    expect_apart(rank, first, other_order);
    expect_apart(rank, rank.world(), first);
    const auto split = rank.world().split(0, 0);
    const auto split_again = rank.world().split(0, 0);
    EXPECT_EQ(split->name(), split_again->name());
    expect_apart(rank, *split, *split_again);
  });
}

// A rank that was in a group of the same name elsewhere is still in step with its new peers.
TEST_P(Groups, OfTheSameNameButOtherMembersDoNotDisturbEachOther) {
  run_ranks_tested(3, GetParam().options(), [](Rank& rank) {
    if (rank.id() < 2) {
      Comm pair(rank, "g", {0, 1});
      EXPECT_EQ(heard_from_left(pair), 1 - rank.id());
    }
    Comm all(rank, "g", {0, 1, 2});
    EXPECT_EQ(heard_from_left(all), (rank.id() + 2) % 3);
  });
}

std::string refusal(Rank& rank, const std::vector<int>& members) {
  try {
    Comm group(rank, "pp", members);
  } catch (const BadUse& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST_P(Groups, ListsThatMakeNoSenseAreRefused) {
  run_ranks_tested(3, GetParam().options(), [](Rank& rank) {
    EXPECT_EQ(refusal(rank, {0, 1, 0, 2}), "group pp names rank 0 twice");
    EXPECT_EQ(refusal(rank, {0, 1, 2, 3}),
              "group pp names rank 3, but the job has 3 ranks, 0 to 2");
    EXPECT_EQ(refusal(rank, {-1, 0, 1, 2}),
              "group pp names rank -1, but the job has 3 ranks, 0 to 2");
    EXPECT_EQ(refusal(rank, {(rank.id() + 1) % 3}),
              "rank " + std::to_string(rank.id()) + " is no member of group pp");
    EXPECT_EQ(refusal(rank, {}), "rank " + std::to_string(rank.id()) + " is no member of group pp");
    EXPECT_EQ(heard_from_left(rank.world()), (rank.id() + 2) % 3);
  });
}

TEST_P(Groups, AnOperationInsideAnotherIsRefused) {
  run_ranks_tested(1, GetParam().options(), [](Rank& rank) {
    Comm& world = rank.world();
    std::string text;
    world
        .launch({.operation = std::string_view("outer")},
                [&] {
                  try {
                    world.launch({.operation = std::string_view("inner")}, [] {});
                  } catch (const BadUse& error) {
                    text = error.what();
                  }
                })
        .wait();
    EXPECT_EQ(text, "group world: inner was launched inside outer");
  });
}

INSTANTIATE_TEST_SUITE_P(Shapes, Groups, testing::ValuesIn(job_shapes()), shape_name);

}  // namespace
}  // namespace ringside
