#include "parallel/expert/expert_parallel.hpp"

#include <algorithm>
#include <cmath>

#include "collectives/all_gather.hpp"
#include "collectives/all_reduce.hpp"
#include "collectives/nodes.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

std::vector<int> world_ranks(const Comm& group, const std::vector<int>& members) {
  std::vector<int> ranks;
  for (const int member : members) {
    ranks.push_back(group.world_rank(member));
  }
  return ranks;
}

// The groups of a rank by node, and the Comms behind them.
class ByNode {
 public:
  ByNode(Comm& group, const Placement& placement)
      : nodes_(shape_of(group, 0)),
        rail_(group.owner(), group.name() + ".rail", world_ranks(group, rail_members(group))),
        node_(group.owner(), group.name() + ".node",
              world_ranks(group, nodes_.members(nodes_.node_of(group.rank())))),
        groups_{rail_, node_, {}, {}} {
    groups_.in_node.of_all = placement.experts();
    for (const int r : nodes_.members(nodes_.node_of(group.rank()))) {
      const auto experts = placement.experts_of(r);
      groups_.in_node.experts.insert(groups_.in_node.experts.end(), experts.begin(), experts.end());
    }
    for (std::size_t e = 0; e < placement.experts(); ++e) {
      groups_.node_of_expert.push_back(
          static_cast<std::size_t>(nodes_.node_of(placement.rank_of(e))));
    }
  }

  NodeGroups& groups() { return groups_; }

 private:
  std::vector<int> rail_members(const Comm& group) const {
    std::vector<int> members;
    for (int node = 0; node < nodes_.count(); ++node) {
      if (nodes_.size(node) != nodes_.size(0)) {
        throw BadUse("expert parallelism by node needs as many ranks of group " + group.name() +
                     " on each node: node 0 has " + std::to_string(nodes_.size(0)) + ", node " +
                     std::to_string(node) + " has " + std::to_string(nodes_.size(node)));
      }
      members.push_back(nodes_.member(node, nodes_.local(group.rank())));
    }
    return members;
  }

  Nodes nodes_;
  Comm rail_;
  Comm node_;
  NodeGroups groups_;
};

}  // namespace

class ExpertParallel::Dispatch : public ExpertDispatch {
 public:
  Dispatch(Comm& group, DeviceMemory& memory, Placement placement, ExpertParallelOptions options)
      : group_(group),
        memory_(memory),
        placement_(std::move(placement)),
        options_(std::move(options)) {
    if (options_.by_node) {
      by_node_ = std::make_unique<ByNode>(group, placement_);
    }
  }

  std::vector<std::size_t> experts_here(std::size_t experts) const override {
    if (experts != placement_.experts()) {
      throw BadUse("a model of " + std::to_string(experts) + " experts, but " +
                   std::to_string(placement_.experts()) + " were placed on group " + group_.name());
    }
    return placement_.experts_of(group_.rank());
  }

  std::vector<TokenRun> tokens_here(std::size_t rows, const Sequences* sequences) const override {
    return options_.places.of(rows, sequences);
  }

  // A message of [place, counts] for each run, of as many runs on every rank.
  std::vector<RunCounts> group_counts(const std::vector<RunCounts>& here,
                                      std::string_view label) override {
    Comm* group = options_.routing_group;
    if (group == nullptr || group->size() == 1) {
      return here;
    }
    std::vector<std::int64_t> mine;
    for (const RunCounts& run : here) {
      mine.push_back(static_cast<std::int64_t>(run.place));
      mine.insert(mine.end(), run.counts.begin(), run.counts.end());
    }
    std::vector<std::int64_t> all(mine.size() * static_cast<std::size_t>(group->size()));
    all_gather(*group, buffer_of(std::span(mine)), buffer_of(std::span(all)),
               {"ring", std::string(label) + ".group"});
    std::vector<RunCounts> runs;
    const auto width = static_cast<std::ptrdiff_t>(placement_.experts() + 1);
    for (auto at = all.begin(); at != all.end(); at += width) {
      runs.push_back({static_cast<std::size_t>(*at), ExpertCounts(at + 1, at + width)});
    }
    return runs;
  }

  std::unique_ptr<ExpertRoutes> route(Device /*device*/, const Routing& routing,
                                      std::size_t experts, std::string_view label) override {
    const bool shift = options_.fault == Fault::dispatch_offset_wrong;
    if (by_node_) {
      return std::make_unique<NodeRoutes>(by_node_->groups(), memory_, routing, options_.all_to_all,
                                          label, shift);
    }
    return std::make_unique<FlatRoutes>(group_, memory_, routing,
                                        ExpertOrder{placement_.order(), experts},
                                        options_.all_to_all, label, shift);
  }

 private:
  Comm& group_;
  DeviceMemory& memory_;
  Placement placement_;
  ExpertParallelOptions options_;
  std::unique_ptr<ByNode> by_node_;
};

ExpertParallel::ExpertParallel(Comm& group, DeviceMemory& memory, Placement placement,
                               ExpertParallelOptions options)
    : placement_(std::move(placement)),
      options_(std::move(options)),
      dispatch_(std::make_shared<Dispatch>(group, memory, placement_, options_)) {
  if (placement_.ranks() != group.size()) {
    throw BadUse("experts placed on " + std::to_string(placement_.ranks()) + " ranks, but group " +
                 group.name() + " has " + std::to_string(group.size()));
  }
}

ExpertParallel::~ExpertParallel() = default;

std::shared_ptr<ExpertDispatch> ExpertParallel::dispatch() const {
  return dispatch_;
}

std::vector<RouterState> ExpertParallel::end_step(Model& model,
                                                  const std::vector<Comm*>& groups) const {
  std::vector<RouterState> seen;
  for (RouterState* router : routers_of(model)) {
    ExpertCounts numbers = router->counts;
    numbers.push_back(router->tokens);
    numbers.push_back(router->dropped);
    for (Comm* group : groups) {
      all_reduce(*group, buffer_of(std::span(numbers)), ReduceOp::sum,
                 {options_.all_reduce, router->name + ".counts"});
      all_reduce(*group, buffer_of(std::span(&router->balance, 1)), ReduceOp::sum,
                 {options_.all_reduce, router->name + ".balance"});
    }
    router->dropped = numbers.back();
    numbers.pop_back();
    router->tokens = numbers.back();
    numbers.pop_back();
    router->counts = numbers;
    seen.push_back(*router);
    adjust(*router);
  }
  return seen;
}

}  // namespace ringside
