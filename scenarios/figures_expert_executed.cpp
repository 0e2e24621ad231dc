#include "scenarios/figures_expert_executed.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <set>

#include "models/expert_choice.hpp"
#include "models/random.hpp"
#include "parallel/expert/placement.hpp"
#include "runtime/comm.hpp"
#include "runtime/launch.hpp"
#include "runtime/tensor.hpp"

namespace ringside {

namespace {

// What one rank holds; plain, so that it travels as it is.
struct HeldExperts {
  std::int64_t experts_of_a_layer = 0;
  std::int64_t bytes = 0;
  int nodes = 0;  // that its group spans
};

// The number in "….experts.17.gate_proj.weight"; none: no routed expert's.
std::optional<std::size_t> expert_of(const PublishedTensor& tensor) {
  const std::string mark = ".experts.";
  const auto at = tensor.name.find(mark);
  return tensor.group != "routed_experts" || at == std::string::npos
             ? std::nullopt
             : std::optional(std::stoul(tensor.name.substr(at + mark.size())));
}

// Makes the weights of this rank's routed experts, on meta memory.
HeldExperts hold(Rank& rank, const PublishedModel& model, const Placement& placement) {
  HeldExperts held;
  std::vector<Tensor> weights;
  for (const PublishedLayer& layer : model.layers) {
    std::set<std::size_t> here;
    for (const PublishedTensor& tensor : layer.tensors) {
      const auto expert = expert_of(tensor);
      if (expert && placement.rank_of(*expert) == rank.id()) {
        weights.emplace_back(rank.memory(), DType::bf16, tensor.shape, Category::weights,
                             tensor.name);
        here.insert(*expert);
      }
    }
    held.experts_of_a_layer =
        std::max(held.experts_of_a_layer, static_cast<std::int64_t>(here.size()));
  }
  held.bytes = rank.memory().ledger().current[static_cast<std::size_t>(Category::weights)];
  std::set<int> nodes;
  for (int r = 0; r < rank.size(); ++r) {
    nodes.insert(rank.world().node_of(r));
  }
  held.nodes = static_cast<int>(nodes.size());
  return held;
}

// The most groups that a token of a routing run goes to: scores drawn at random.
double most_nodes_of_a_token(const ExpertsConfig& experts, int tokens) {
  const std::size_t size = experts.routed / experts.groups;
  const RouterConfig config{.groups = experts.groups, .top_groups = experts.token_groups};
  std::size_t most = 0;
  for (int t = 0; t < tokens; ++t) {
    std::vector<double> scores;
    for (std::size_t e = 0; e < experts.routed; ++e) {
      scores.push_back(uniform(mix(mix(static_cast<std::uint64_t>(t)) + e)));
    }
    std::set<std::size_t> groups;
    for (const std::size_t e : choose_experts(scores, experts.per_token, config)) {
      groups.insert(e / size);
    }
    most = std::max(most, groups.size());
  }
  return static_cast<double>(most);
}

Executed same(double value, std::string summed) {
  return {.mean = value, .least = value, .most = value, .summed = std::move(summed)};
}

}  // namespace

std::map<std::string, Executed> executed_expert_figures(const FigureInputs& inputs) {
  const PublishedModel& model = inputs.deepseek;
  const ExpertsConfig& experts = *model.config.experts;
  const int ranks = inputs.many_ranks;
  const Placement placement(experts.routed, ranks);
  Cluster cluster = inputs.cluster;
  cluster.gpus_per_node = inputs.ranks;
  const auto held = run_ranks(ranks, {.cluster = cluster, .memory = Backing::meta},
                              [&](Rank& rank) { return hold(rank, model, placement); });
  const auto by_experts = [](const HeldExperts& a, const HeldExperts& b) {
    return a.experts_of_a_layer < b.experts_of_a_layer;
  };
  std::int64_t bytes = 0;
  std::int64_t sum = 0;
  for (const HeldExperts& rank : held) {
    bytes += rank.bytes;
    sum += rank.experts_of_a_layer;
  }
  constexpr int tokens = 4096;
  return {
      {"EP01",
       {.mean = static_cast<double>(sum) / ranks,
        .least =
            static_cast<double>(std::ranges::min_element(held, by_experts)->experts_of_a_layer),
        .most = static_cast<double>(std::ranges::max_element(held, by_experts)->experts_of_a_layer),
        .summed = fmt::format("experts of a layer made on a rank, mean of {} ranks", ranks)}},
      {"EP02", same(static_cast<double>(bytes) / inputs.bytes_per_element,
                    fmt::format("parameters of routed experts in the ledgers of {} ranks", ranks))},
      {"EP03", same(static_cast<double>(bytes),
                    fmt::format("bytes of routed experts in the ledgers of {} ranks", ranks))},
      {"EP04",
       same(most_nodes_of_a_token(experts, tokens),
            fmt::format("groups of nodes chosen by the router, most of {} tokens", tokens))},
      {"EP05", same(held.front().nodes, fmt::format("nodes that the {} ranks ran on", ranks))},
  };
}

}  // namespace ringside
