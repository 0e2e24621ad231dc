// The groups that one rank of a plan is in, and what it comes to of all that it sends in them.
#pragma once

#include <string>
#include <vector>

#include "parallel/plan_traffic.hpp"
#include "scenarios/mesh_verb.hpp"

namespace ringside {

struct RankGroup {
  std::string name;  // "tp", "dp x cp", "expert dp"
  std::vector<int> members;
  int place = 0;  // this rank's
  LinkClass link = LinkClass::self;
  int nodes = 1;  // on which it lies
};

// tp, cp, pp, dp, dp x cp; with expert parallelism ep and expert dp.
std::vector<RankGroup> groups_of(const MeshRequest& request);

struct GroupSum {
  std::string group;
  std::int64_t bytes = 0;
  Time time{0};
  LinkClass link = LinkClass::self;  // ib, where any of it is
};

// By group, in the order of `sendings`.
std::vector<GroupSum> sums_of(const std::vector<PlannedSending>& sendings);

// The one that takes longest; null when there is none.
const GroupSum* heaviest(const std::vector<GroupSum>& sums);

}  // namespace ringside
