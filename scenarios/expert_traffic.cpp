#include "scenarios/expert_traffic.hpp"

#include <algorithm>
#include <set>

#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

// Where ranks are, and who holds what.
class Ground {
 public:
  explicit Ground(const Settings& s)
      : cluster_(cluster_of(s)), placement_(placement_of(s)), ep_(s.parallel.ep) {}

  // World rank that computes the expert for the tokens of `source`.
  int owner(int source, std::int32_t expert) const {
    return source / ep_ * ep_ + placement_.rank_of(static_cast<std::size_t>(expert));
  }

  int node(int rank) const { return cluster_.node_of(rank); }

  // Who takes a token of `source` on the node of `owner`: the rank with the same place there.
  int forwarder(int source, int owner) const {
    return first_in_node(owner, source) + (source - first_in_node(source, source));
  }

 private:
  // Of the members of source's group that are on the node of `rank`.
  int first_in_node(int rank, int source) const {
    int first = source / ep_ * ep_;
    while (node(first) != node(rank)) {
      ++first;
    }
    return first;
  }

  Cluster cluster_;
  Placement placement_;
  int ep_;
};

class Counting {
 public:
  Counting(const Settings& s, RoutingCounted& counted)
      : ground_(s), by_node_(s.parallel.dispatch == "by_node"), counted_(counted) {}

  void take(const RoutedGroup& group) {
    const Routing& routing = group.routing;
    for (std::size_t t = 0; t < routing.tokens; ++t) {
      std::set<int> nodes;
      for (std::size_t j = 0; j < routing.top_k; ++j) {
        const std::int32_t expert = routing.experts[t * routing.top_k + j];
        if (expert >= 0) {
          choice(group.rank, ground_.owner(group.rank, expert), nodes);
        }
      }
      const auto count = static_cast<std::int64_t>(nodes.size());
      ++counted_.tokens;
      counted_.nodes += count;
      counted_.most_nodes = std::max(counted_.most_nodes, count);
    }
  }

 private:
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

struct Moved {
  std::int64_t sent = 0;
  std::int64_t received = 0;
};

Moved counted_under(const RankReport& report, std::string_view ending) {
  Moved bytes;
  for (const auto& sum : report.sums) {
    if (std::string_view(sum.group).starts_with("ep") &&
        std::string_view(sum.label).ends_with(ending)) {
      bytes.sent += sum.sent_bytes;
      bytes.received += sum.received_bytes;
    }
  }
  return bytes;
}

TrafficComparison row(int rank, std::string label, std::string formula, Moved seen,
                      std::int64_t sent, std::int64_t received) {
  return {rank,      "all_to_all_v", std::move(label), std::move(formula),
          seen.sent, sent,           seen.received,    received};
}

}  // namespace

RoutingCounted count_routing(const Settings& settings, std::string_view text) {
  const GroupsInTurn truth = train_groups_in_turn(plan_of(settings, text), settings.parallel.dp,
                                                  settings.parallel.microbatches);
  RoutingCounted counted;
  counted.ranks.resize(static_cast<std::size_t>(settings.ranks));
  counted.rows.resize(static_cast<std::size_t>(settings.ranks));
  Counting counting(settings, counted);
  for (const RoutedGroup& group : truth.groups) {
    counting.take(group);
  }
  return counted;
}

std::vector<TrafficComparison> compare_expert_traffic(const Settings& s,
                                                      const RoutingCounted& counted,
                                                      const JobResult& job) {
  const std::int64_t passes = s.parallel.recompute == "full" ? 2 : 1;
  const auto row_bytes = static_cast<std::int64_t>(s.model.hidden) *
                         static_cast<std::int64_t>(size_of(element_type(s)));
  // Tokens go out in every forward and their gradients in backward; results come back alike.
  const std::int64_t both = (passes + 1) * row_bytes;
  std::vector<TrafficComparison> rows;
  for (int r = 0; r < s.ranks; ++r) {
    const RankReport& report = job.ranks[static_cast<std::size_t>(r)].report;
    const CopiesCounted& c = counted.ranks[static_cast<std::size_t>(r)];
    rows.push_back(row(r, "dispatch", "copies hidden bytes, there and of gradients",
                       counted_under(report, ".dispatch"), both * c.out, both * c.in));
    rows.push_back(row(r, "combine", "the same, back", counted_under(report, ".combine"),
                       both * c.in, both * c.out));
    if (s.parallel.dispatch == "by_node") {
      rows.push_back(row(r, "dispatch inside", "copies forwarded, hidden bytes",
                         counted_under(report, ".dispatch.in"), both * c.out_inside,
                         both * c.in_inside));
      rows.push_back(row(r, "combine inside", "the same, back",
                         counted_under(report, ".combine.in"), both * c.in_inside,
                         both * c.out_inside));
    }
  }
  return rows;
}

}  // namespace ringside
