// The mesh: coordinates, groups, refusals.
#include "parallel/mesh.hpp"

#include <gtest/gtest.h>

#include <set>

#include "runtime/errors.hpp"

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

TEST(Mesh, TheGroupsOfAnAxisTileTheRanks) {
  const MeshShape shape{.tp = 4, .cp = 2, .pp = 2, .dp = 3};
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

}  // namespace
}  // namespace ringside
