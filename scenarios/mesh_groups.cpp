#include "scenarios/mesh_groups.hpp"

#include <algorithm>
#include <set>

namespace ringside {

std::vector<RankGroup> groups_of(const MeshRequest& request) {
  const Mesh mesh(request.plan.mesh, request.rank);
  std::vector<RankGroup> groups;
  const auto add = [&](std::string name, std::vector<int> members) {
    const auto place = std::ranges::find(members, request.rank) - members.begin();
    const LinkClass link = link_of(request.cluster, members);
    std::set<int> nodes;
    for (const int member : members) {
      nodes.insert(request.cluster.node_of(member));
    }
    groups.push_back({std::move(name), std::move(members), static_cast<int>(place), link,
                      static_cast<int>(nodes.size())});
  };
  for (const Axis axis : all_axes) {
    add(std::string(name_of(axis)), mesh.members({axis}));
  }
  add("dp x cp", mesh.members({Axis::cp, Axis::dp}));
  if (request.plan.ep > 1) {
    add("ep", expert_group(mesh, request.plan.ep));
    add("expert dp", expert_data_group(mesh, request.plan.ep));
  }
  return groups;
}

std::vector<GroupSum> sums_of(const std::vector<PlannedSending>& sendings) {
  std::vector<GroupSum> sums;
  for (const PlannedSending& sending : sendings) {
    auto sum = std::ranges::find(sums, sending.group, &GroupSum::group);
    if (sum == sums.end()) {
      sums.push_back({.group = sending.group, .link = sending.link});
      sum = sums.end() - 1;
    }
    sum->bytes += sending.bytes;
    sum->time = add(sum->time, sending.time);
    sum->link = sending.link == LinkClass::ib ? LinkClass::ib : sum->link;
  }
  return sums;
}

const GroupSum* heaviest(const std::vector<GroupSum>& sums) {
  const auto most = std::ranges::max_element(sums, {}, &GroupSum::time);
  return most == sums.end() ? nullptr : &*most;
}

}  // namespace ringside
