// The mesh: coordinates, groups, refusals.
#include "parallel/mesh.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "runtime/errors.hpp"
#include "tests/scenarios/refusal.hpp"

namespace ringside {
namespace {

using Ranks = std::vector<int>;

TEST(Mesh, InnerAxesAreNeighbours) {
  const Mesh mesh({.tp = 2, .cp = 2, .pp = 3, .dp = 2}, 17);  // 17 = 1 + 2 (0 + 2 (1 + 3 * 1))
  EXPECT_EQ(mesh.at(Axis::tp), 1);
  EXPECT_EQ(mesh.at(Axis::cp), 0);
  EXPECT_EQ(mesh.at(Axis::pp), 1);
  EXPECT_EQ(mesh.at(Axis::dp), 1);
  EXPECT_EQ(mesh.members({Axis::tp}), (Ranks{16, 17}));
  EXPECT_EQ(mesh.members({Axis::cp}), (Ranks{17, 19}));
  EXPECT_EQ(mesh.members({Axis::pp}), (Ranks{13, 17, 21}));
  EXPECT_EQ(mesh.members({Axis::dp}), (Ranks{5, 17}));
  EXPECT_EQ(mesh.members({Axis::dp, Axis::tp}), (Ranks{4, 5, 16, 17}));
  EXPECT_EQ(mesh.members({}), (Ranks{17}));
}

TEST(Mesh, AnotherOrderMakesOtherNeighbours) {
  // 17 = 1 + 2 (1 + 2 (1 + 3 * 1)): tp, then dp, then pp, then cp.
  const Mesh mesh({.tp = 2, .cp = 2, .pp = 3, .dp = 2, .order = parse_order("tp-dp-pp-cp")}, 19);
  EXPECT_EQ(mesh.at(Axis::tp), 1);
  EXPECT_EQ(mesh.at(Axis::dp), 1);
  EXPECT_EQ(mesh.at(Axis::pp), 1);
  EXPECT_EQ(mesh.at(Axis::cp), 1);
  EXPECT_EQ(mesh.members({Axis::dp}), (Ranks{17, 19}));
  EXPECT_EQ(mesh.members({Axis::pp}), (Ranks{15, 19, 23}));
  EXPECT_EQ(mesh.members({Axis::cp, Axis::dp}), (Ranks{5, 7, 17, 19}));
  EXPECT_EQ(mesh.place_among({Axis::cp, Axis::dp}), 3);
  EXPECT_EQ(mesh.rank_with(Axis::cp, 0), 7);
  EXPECT_EQ(mesh.rank_with(Axis::pp, 2), 23);
  EXPECT_EQ(expert_group(mesh, 2), (Ranks{17, 19}));
  EXPECT_EQ(expert_data_group(mesh, 2), (Ranks{7, 19}));
}

std::size_t nodes_of(const Ranks& ranks) {
  std::set<int> nodes;
  for (const int r : ranks) {
    nodes.insert(r / 8);
  }
  return nodes.size();
}

// DeepSeek-V3 (report, section 3.1): pp 16, ep 64 over 8 nodes of 8 GPUs.
TEST(Mesh, DeepSeekV3sExpertsLieOn8NodesWithDpInsideAndOn64WithPpInside) {
  MeshShape shape{.pp = 16, .dp = 128};
  const auto inside = expert_group(Mesh(shape, 200), 64);
  EXPECT_EQ(nodes_of(inside), 64U);
  shape.order = parse_order("tp-cp-dp-pp");
  const auto published = expert_group(Mesh(shape, 200), 64);
  ASSERT_EQ(published.size(), 64U);
  EXPECT_EQ(published.front(), 192);
  EXPECT_EQ(published.back(), 255);
  EXPECT_EQ(nodes_of(published), 8U);
}

TEST(Mesh, AnOrderNamesEveryAxisOnce) {
  EXPECT_EQ(text_of(MeshShape{}.order), "tp-cp-pp-dp");
  EXPECT_EQ(text_of(parse_order("dp, pp, cp, tp")), "dp-pp-cp-tp");
  for (const auto& [order, said] :
       {std::pair{"tp-dp-pp", "\"tp-dp-pp\" cp is missing: the nearest is tp-cp-dp-pp"},
        {"tp-cp-ep-dp-pp", "ep is no axis, for it divides dp x cp: the nearest is tp-cp-dp-pp"},
        {"dp-pp-dp-tp", "dp stands there twice: the nearest is dp-pp-tp-cp"},
        {"tp-cp-pp-dq", "there is no axis \"dq\": the nearest is tp-cp-pp-dp"},
        {"", "\"\" tp is missing: the nearest is tp-cp-pp-dp"}}) {
    EXPECT_TRUE(has(refusal_of([&, text = order] { parse_order(text); }), said)) << order;
  }
  MeshShape twice;
  twice.order = {Axis::tp, Axis::tp, Axis::pp, Axis::dp};
  EXPECT_THROW(require_usable(twice, 1), BadUse);
}

class MeshInOrder : public testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(, MeshInOrder,
                         testing::Values("tp-cp-pp-dp", "tp-cp-dp-pp", "dp-pp-cp-tp",
                                         "pp-tp-dp-cp"),
                         [](const auto& made) {
                           std::string name(made.param);
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(MeshInOrder, TheGroupsOfAnAxisTileTheRanks) {
  const MeshShape shape{.tp = 4, .cp = 2, .pp = 2, .dp = 3, .order = parse_order(GetParam())};
  for (const Axis axis : all_axes) {
    std::set<int> seen;
    for (int r = 0; r < shape.ranks(); ++r) {
      const auto members = Mesh(shape, r).members({axis});
      ASSERT_EQ(members.size(), static_cast<std::size_t>(shape.extent(axis)));
      const auto place = static_cast<std::size_t>(Mesh(shape, r).at(axis));
      EXPECT_EQ(members[place], r) << name_of(axis);
      for (const int other : members) {
        EXPECT_EQ(Mesh(shape, other).members({axis}), members);
      }
      seen.insert(members.begin(), members.end());
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(shape.ranks()));
  }
}

TEST(Mesh, ExpertGroupsAreNeighboursInCpAndThenDp) {
  const MeshShape shape{.tp = 2, .cp = 2, .pp = 2, .dp = 2};  // cp apart by 2, dp by 8
  const Mesh mesh(shape, 11);                                 // 11 = 1 + 2 (1 + 2 (0 + 2 * 1))
  EXPECT_EQ(expert_group(mesh, 1), (Ranks{11}));
  EXPECT_EQ(expert_group(mesh, 2), (Ranks{9, 11}));
  EXPECT_EQ(expert_group(mesh, 4), (Ranks{1, 3, 9, 11}));
  EXPECT_EQ(expert_data_group(mesh, 1), (Ranks{1, 3, 9, 11}));
  EXPECT_EQ(expert_data_group(mesh, 2), (Ranks{3, 11}));
  EXPECT_EQ(expert_data_group(mesh, 4), (Ranks{11}));
}

using Groups = std::vector<int> (*)(const Mesh&, int);

// How many ranks are in groups that do not have `size` members, are not the same to every member,
// or have the rank not among them.
int strays(const MeshShape& shape, int ep, std::size_t size, Groups group_of) {
  int strays = 0;
  for (int r = 0; r < shape.ranks(); ++r) {
    const auto members = group_of(Mesh(shape, r), ep);
    const bool right = members.size() == size && std::ranges::count(members, r) == 1 &&
                       std::ranges::all_of(members, [&](int other) {
                         return group_of(Mesh(shape, other), ep) == members;
                       });
    strays += right ? 0 : 1;
  }
  return strays;
}

TEST_P(MeshInOrder, ExpertGroupsAndExpertDataGroupsTileTheRanks) {
  const MeshShape shape{.tp = 2, .cp = 2, .pp = 3, .dp = 6, .order = parse_order(GetParam())};
  for (const int ep : {1, 2, 3, 4, 6, 12}) {
    const auto size = static_cast<std::size_t>(ep);
    EXPECT_EQ(strays(shape, ep, size, expert_group), 0) << ep;
    EXPECT_EQ(strays(shape, ep, 12 / size, expert_data_group), 0) << ep;
  }
  const Groups across_stages = [](const Mesh& mesh, int ep) {
    return std::vector<int>{mesh.members({Axis::dp})[0], mesh.members({Axis::pp})[0] + ep};
  };
  EXPECT_GT(strays(shape, 2, 2, across_stages), 0);
}

// Together with the ranks that have the same experts, an expert group is dp x cp, each rank once.
TEST(Mesh, AnExpertGroupTimesItsExpertDataGroupsIsDpTimesCp) {
  const Mesh mesh({.tp = 2, .cp = 2, .pp = 2, .dp = 6}, 21);
  std::vector<int> all;
  for (const int r : expert_group(mesh, 4)) {
    const auto same_experts = expert_data_group(Mesh(mesh.shape(), r), 4);
    all.insert(all.end(), same_experts.begin(), same_experts.end());
  }
  std::ranges::sort(all);
  EXPECT_EQ(all, mesh.members({Axis::cp, Axis::dp}));
}

std::string refusal(const MeshShape& shape, int ranks) {
  try {
    require_usable(shape, ranks);
  } catch (const BadUse& error) {
    return error.what();
  }
  return "";
}

TEST(Mesh, RefusesDegreesThatDoNotMakeTheRanks) {
  EXPECT_EQ(refusal({.tp = 4, .dp = 2}, 8), "");
  EXPECT_EQ(refusal({.tp = 4, .dp = 3}, 8),
            "a mesh of tp = 4, dp = 3 has 12 places, but there are 8 ranks: make dp 2, or take 12 "
            "ranks");
  EXPECT_EQ(refusal({.tp = 3}, 8),
            "a mesh of tp = 3 has 3 places, but there are 8 ranks: take 3 ranks, or make dp 2 or 3 "
            "and take 6 or 9");
  EXPECT_EQ(refusal({.tp = 8}, 6),
            "a mesh of tp = 8 has 8 places, but there are 6 ranks: take 8 ranks");
  EXPECT_EQ(refusal({.tp = 0}, 8), "a mesh needs degrees of at least 1: tp = 0");
  EXPECT_THROW(Mesh({.tp = 2}, 2), BadUse);
}

TEST(Mesh, RefusesAnExpertDegreeThatDoesNotDivideDpTimesCp) {
  const Mesh mesh({.tp = 8, .cp = 2, .dp = 3}, 0);
  EXPECT_EQ(refusal_of([&] { expert_group(mesh, 4); }),
            "ep = 4 does not divide dp x cp = 3 x 2 = 6: ep may be 1, 2, 3, 6");
  EXPECT_THROW(expert_data_group(mesh, 0), BadUse);
}

}  // namespace
}  // namespace ringside
