#include "scenarios/expert_traffic.hpp"

#include <algorithm>

#include "collectives/all_to_all.hpp"
#include "scenarios/collective_formula.hpp"
#include "scenarios/expert_settings.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/pipeline_settings.hpp"

namespace ringside {

namespace {

// What the run counted in groups whose names begin so, under labels that end so.
Figures counted_under(const RankReport& report, std::string_view group,
                      const std::vector<std::string_view>& endings) {
  Figures figures;
  for (const auto& sum : report.sums) {
    const std::string_view label(sum.label);
    const bool wanted = std::ranges::any_of(
        endings, [&](std::string_view ending) { return label.ends_with(ending); });
    if (std::string_view(sum.group).starts_with(group) && wanted) {
      figures += {sum.sent_bytes, sum.received_bytes};
    }
  }
  return figures;
}

TrafficComparison row(int rank, std::string operation, std::string label, std::string formula,
                      Figures seen, Figures expected) {
  return {rank,      std::move(operation), std::move(label), std::move(formula),
          seen.sent, expected.sent,        *seen.received,   expected.received};
}

// An all-to-all of `each` elements of 8 bytes for every rank of a group.
Figures counts_exchanged(const Settings& s, const AxisGroup& group, std::int64_t each) {
  const auto p = static_cast<std::size_t>(group.size);
  const auto n = p * static_cast<std::size_t>(each);
  const auto algorithm = chosen("all_to_all", s.collectives.all_to_all, group.several_nodes, 8 * n);
  const auto sent = static_cast<std::int64_t>(
      pick(all_to_all_algorithms(), "all_to_all", algorithm)
          .sent({.p = group.size, .n = n, .rank = group.me, .node_of = group.node_of}));
  return {8 * sent, algorithm == "pairwise" ? std::optional(8 * sent) : std::nullopt};
}

class Formulas {
 public:
  Formulas(const Settings& s, const CopiesCounted& copies, int rank)
      : s_(s),
        copies_(copies),
        rank_(rank),
        passes_(s.parallel.recompute == "full" ? 2 : 1),
        by_node_(s.parallel.dispatch == "by_node") {}

  // Tokens go out in every forward and their gradients in backward; results come back alike.
  Figures dispatch() const { return Figures{copies_.out, copies_.in} * both(); }

  Figures combine() const { return Figures{copies_.in, copies_.out} * both(); }

  Figures dispatch_inside() const {
    return Figures{copies_.out_inside, copies_.in_inside} * both();
  }

  Figures combine_inside() const { return Figures{copies_.in_inside, copies_.out_inside} * both(); }

  // Of choices, there, and their gradients back: a number a choice, or by node the token's top_k.
  Figures weights() const {
    const std::int64_t numbers = by_node_ ? s_.model.top_k : 1;
    Figures figures{numbers * (passes_ * copies_.out + copies_.in),
                    numbers * (passes_ * copies_.in + copies_.out)};
    figures += {passes_ * copies_.out_inside + copies_.in_inside,
                passes_ * copies_.in_inside + copies_.out_inside};
    return figures * element_of(s_);
  }

  // How many rows will come: of each expert of the receiver; by node, tokens for it and the choices
  // of each, and then inside.
  Figures counts() const {
    const AxisGroup group(s_, expert_group(mesh_of(s_, rank_), s_.parallel.ep), rank_);
    const std::int64_t each = s_.model.experts / s_.parallel.ep;
    if (!by_node_) {
      return counts_exchanged(s_, group, each) * (passes_ * copies_.routings);
    }
    Figures figures = counts_exchanged(s_, rail(), 1);
    figures += counts_exchanged(s_, inside(), each);
    figures = figures * (passes_ * copies_.routings);
    constexpr std::int64_t choice = 4;  // bytes
    return figures += Figures{copies_.out, copies_.in} * (passes_ * choice * s_.model.top_k);
  }

  // Choices by expert, tokens, what was dropped, and the balance, of every router once a step; and
  // without ZeRO the squares of the experts' gradients.
  Figures sums() const {
    std::vector<Axis> axes{Axis::cp, Axis::dp};
    if (s_.parallel.sp && s_.parallel.tp > 1) {
      axes.insert(axes.begin(), Axis::tp);
    }
    const int routers = layers_here(s_, rank_, std::nullopt).blocks;
    Figures figures = of_a_router({s_, axes, rank_});
    if (s_.parallel.schedule == "dualpipe" && s_.parallel.pp > 1) {
      figures += of_a_router({s_, copies_of_stages(), rank_});
    }
    figures = figures * routers;
    if (s_.parallel.zero == 0) {
      const AxisGroup group(s_, expert_group(mesh_of(s_, rank_), s_.parallel.ep), rank_);
      figures += all_reduce_elements(s_, group, 1, 8);
    }
    return figures * (std::int64_t{8} * s_.train.steps);
  }

  // Of every run of tokens its place and its choices by expert, where several ranks have the tokens
  // of a micro-batch.
  Figures routing_groups() const {
    const std::int64_t ranks = std::int64_t{s_.parallel.cp} * (s_.parallel.sp ? s_.parallel.tp : 1);
    const std::int64_t bytes =
        (ranks - 1) * passes_ * copies_.runs * (s_.model.experts + 1) * std::int64_t{8};
    return {bytes, bytes};
  }

 private:
  std::int64_t both() const { return (passes_ + 1) * s_.model.hidden * element_of(s_); }

  Figures of_a_router(const AxisGroup& group) const {
    const auto numbers = static_cast<std::size_t>(s_.model.experts) + 2;
    Figures figures = all_reduce_elements(s_, group, numbers, 8 * numbers);
    return figures += all_reduce_elements(s_, group, 1, 8);
  }

  // The devices that have the same stages as this rank's.
  std::vector<int> copies_of_stages() const {
    const Schedule schedule = schedule_of(s_);
    const StagePlacement placement(schedule);
    const auto devices = mesh_of(s_, rank_).members({Axis::pp});
    const int device = mesh_of(s_, rank_).at(Axis::pp);
    std::vector<int> ranks;
    for (const int d : placement.devices_of(placement.stages_on(device).front())) {
      ranks.push_back(devices[static_cast<std::size_t>(d)]);
    }
    return ranks;
  }

  // Of the expert-parallel group: those on this rank's node, and those with its place on theirs.
  AxisGroup inside() const {
    return part([&](int node, int, int) { return node == node_of(rank_); });
  }

  AxisGroup rail() const {
    return part([&](int, int place, int own) { return place == own; });
  }

  int node_of(int rank) const { return cluster_of(s_).node_of(rank); }

  template <class Wanted>
  AxisGroup part(Wanted wanted) const {
    const auto group = expert_group(mesh_of(s_, rank_), s_.parallel.ep);
    const auto place_of = [&](int rank) {
      return static_cast<int>(std::ranges::count_if(
          group, [&](int r) { return r < rank && node_of(r) == node_of(rank); }));
    };
    std::vector<int> members;
    for (const int r : group) {
      if (wanted(node_of(r), place_of(r), place_of(rank_))) {
        members.push_back(r);
      }
    }
    return {s_, members, rank_};
  }

  const Settings& s_;
  const CopiesCounted& copies_;
  int rank_;
  std::int64_t passes_;
  bool by_node_;
};

}  // namespace

std::vector<TrafficComparison> compare_expert_traffic(const Settings& s,
                                                      const RoutingCounted& counted,
                                                      const JobResult& job) {
  std::vector<TrafficComparison> rows;
  for (int r = 0; r < s.ranks; ++r) {
    const RankReport& report = job.ranks[static_cast<std::size_t>(r)].report;
    const Formulas formulas(s, counted.ranks[static_cast<std::size_t>(r)], r);
    const auto add = [&](const char* operation, const char* label, const char* formula,
                         const char* group, const std::vector<std::string_view>& endings,
                         Figures expected) {
      rows.push_back(
          row(r, operation, label, formula, counted_under(report, group, endings), expected));
    };
    add("all_to_all_v", "dispatch", "copies hidden bytes, there and of gradients", "ep",
        {".dispatch"}, formulas.dispatch());
    add("all_to_all_v", "combine", "the same, back", "ep", {".combine"}, formulas.combine());
    if (s.parallel.dispatch == "by_node") {
      add("all_to_all_v", "dispatch inside", "copies forwarded, hidden bytes", "ep",
          {".dispatch.in"}, formulas.dispatch_inside());
      add("all_to_all_v", "combine inside", "the same, back", "ep", {".combine.in"},
          formulas.combine_inside());
    }
    add("all_to_all_v", "weights of choices", "a number a choice, there and of gradients", "ep",
        {".weights", ".weights.in"}, formulas.weights());
    add("all_to_all", "counts of rows", "8 bytes an expert, micro-batch and layer", "ep",
        {".counts", ".routes"}, formulas.counts());
    Figures sums = counted_under(report, "", {".router.counts", ".router.balance"});
    sums += counted_under(report, "ep", {"gradient_norm"});
    rows.push_back(row(r, "all_reduce", "sums of routers",
                       "experts + 3 numbers a router and step; a norm", sums, formulas.sums()));
    if (s.parallel.cp > 1 || s.parallel.sp) {
      add("all_gather", "routing groups", "experts + 1 numbers a run of tokens", "routing",
          {".group"}, formulas.routing_groups());
    }
  }
  return rows;
}

}  // namespace ringside
