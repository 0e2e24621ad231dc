// Where the tokens of one process's routers would go on the ranks of a mesh.
#include <algorithm>
#include <map>
#include <set>

#include "scenarios/expert_settings.hpp"
#include "scenarios/expert_traffic.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/pipeline_settings.hpp"
#include "scenarios/token_sources.hpp"

namespace ringside {

namespace {

// Where ranks are, and who holds what.
class Ground {
 public:
  explicit Ground(const Settings& s) : cluster_(cluster_of(s)), placement_(placement_of(s)) {
    for (int r = 0; r < s.ranks; ++r) {
      groups_.push_back(expert_group(mesh_of(s, r), s.parallel.ep));
    }
  }

  // World rank that computes the expert for the tokens of `source`.
  int owner(int source, std::int32_t expert) const {
    const int place = placement_.rank_of(static_cast<std::size_t>(expert));
    return group(source)[static_cast<std::size_t>(place)];
  }

  int node(int rank) const { return cluster_.node_of(rank); }

  // Who takes a token of `source` on the node of `owner`: the rank with the same place there.
  int forwarder(int source, int owner) const {
    const auto there = on_node_of(owner);
    const auto here = on_node_of(source);
    return there[static_cast<std::size_t>(std::ranges::find(here, source) - here.begin())];
  }

 private:
  const std::vector<int>& group(int rank) const { return groups_[static_cast<std::size_t>(rank)]; }

  // Of the rank's group.
  std::vector<int> on_node_of(int rank) const {
    std::vector<int> members = group(rank);
    std::erase_if(members, [&](int member) { return node(member) != node(rank); });
    return members;
  }

  Cluster cluster_;
  Placement placement_;
  std::vector<std::vector<int>> groups_;
};

class Counting {
 public:
  Counting(const Settings& s, RoutingCounted& counted)
      : ground_(s), by_node_(s.parallel.dispatch == "by_node"), counted_(counted) {}

  void take(const Routing& routing, const TokenSources& sources) {
    for (const int rank : sources.ranks) {
      ++of(rank).routings;
      of(rank).runs += sources.runs_a_rank;
    }
    for (const auto& copy : sources.copies) {
      for (std::size_t t = 0; t < routing.tokens; ++t) {
        take_token(routing, t, copy[t]);
      }
    }
  }

 private:
  void take_token(const Routing& routing, std::size_t token, int source) {
    std::set<int> nodes;
    for (std::size_t j = 0; j < routing.top_k; ++j) {
      const std::int32_t expert = routing.experts[token * routing.top_k + j];
      if (expert >= 0) {
        choice(source, ground_.owner(source, expert), nodes);
      }
    }
    const auto count = static_cast<std::int64_t>(nodes.size());
    ++counted_.tokens;
    counted_.nodes += count;
    counted_.most_nodes = std::max(counted_.most_nodes, count);
  }

  void choice(int source, int owner, std::set<int>& nodes) {
    ++counted_.rows[static_cast<std::size_t>(owner)];
    const bool new_node = nodes.insert(ground_.node(owner)).second;
    if (!by_node_) {
      move(source, owner);
      return;
    }
    const int forwarder = ground_.forwarder(source, owner);
    if (new_node) {
      move(source, forwarder);
    }
    if (forwarder != owner) {
      ++of(forwarder).out_inside;
      ++of(owner).in_inside;
    }
  }

  void move(int from, int to) {
    if (from != to) {
      ++of(from).out;
      ++of(to).in;
      of(from).out_across += ground_.node(from) != ground_.node(to) ? 1 : 0;
    }
  }

  CopiesCounted& of(int rank) { return counted_.ranks[static_cast<std::size_t>(rank)]; }

  Ground ground_;
  bool by_node_;
  RoutingCounted& counted_;
};

// Where the layers of a model are computed.
class Devices {
 public:
  explicit Devices(const Settings& s) {
    if (s.parallel.pp == 1) {
      return;
    }
    const PipelinePlan plan = pipeline_plan(s);
    placement_.emplace(plan.schedule);
    for (std::size_t stage = 0; stage < plan.split.size(); ++stage) {
      stage_of_.insert(stage_of_.end(), plan.split[stage], static_cast<int>(stage));
    }
  }

  // `label`: "layers.3.mlp"; the embedding is layer 0 of the model.
  int of(std::string_view label, int microbatch) const {
    if (!placement_) {
      return 0;
    }
    const std::string number(label.substr(std::string_view("layers.").size()));
    return placement_->device_of(stage_of_.at(std::stoul(number) + 1), microbatch);
  }

 private:
  std::optional<StagePlacement> placement_;
  std::vector<int> stage_of_;
};

}  // namespace

RoutingCounted count_routing(const Settings& s, const TrainingPlan& plan, const Reference& truth) {
  RoutingCounted counted;
  counted.ranks.resize(static_cast<std::size_t>(s.ranks));
  counted.rows.resize(static_cast<std::size_t>(s.ranks));
  Counting counting(s, counted);
  const Devices devices(s);
  for (const RoutedGroup& group : truth.routed) {
    const BatchShare share{group.rank, s.parallel.dp, s.parallel.microbatches};
    const Batch batch = microbatch_of(plan, share, group.step, group.microbatch);
    counting.take(
        group.routing,
        token_sources(s, batch.lengths, devices.of(group.label, group.microbatch), group.rank));
  }
  return counted;
}

}  // namespace ringside
