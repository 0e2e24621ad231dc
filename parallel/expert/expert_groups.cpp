#include "parallel/expert/expert_groups.hpp"

#include <algorithm>
#include <string>

#include "runtime/errors.hpp"

namespace ringside {

void require_expert_parallel(int ep, int ranks) {
  if (ep >= 1 && ranks % ep == 0) {
    return;
  }
  std::string choices;
  for (int d = 1; d <= ranks; ++d) {
    if (ranks % d == 0) {
      choices += (choices.empty() ? "" : ", ") + std::to_string(d);
    }
  }
  throw BadUse("ep = " + std::to_string(ep) + " does not divide dp x cp = " +
               std::to_string(ranks) + " ranks: ep may be " + choices);
}

ExpertGroups expert_groups(const Mesh& mesh, int ep) {
  const auto all = mesh.members({Axis::cp, Axis::dp});
  require_expert_parallel(ep, static_cast<int>(all.size()));
  const int me = mesh.at(Axis::cp) + mesh.shape().cp * mesh.at(Axis::dp);
  ExpertGroups groups;
  for (int r = 0; r < static_cast<int>(all.size()); ++r) {
    const int world = all[static_cast<std::size_t>(r)];
    if (r / ep == me / ep) {
      groups.together.push_back(world);
    }
    if (r % ep == me % ep) {
      groups.holders.push_back(world);
    }
  }
  return groups;
}

}  // namespace ringside
