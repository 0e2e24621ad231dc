#include "parallel/expert/node_routes.hpp"

#include "collectives/all_to_all.hpp"

namespace ringside {

namespace {

// The tokens that go to each node, ascending.
std::vector<std::vector<std::size_t>> tokens_by_node(const Routing& routing,
                                                     const std::vector<std::size_t>& node_of_expert,
                                                     std::size_t nodes) {
  std::vector<std::vector<std::size_t>> tokens(nodes);
  for (std::size_t c = 0; c < routing.experts.size(); ++c) {
    if (routing.experts[c] >= 0) {
      auto& there = tokens[node_of_expert[static_cast<std::size_t>(routing.experts[c])]];
      const std::size_t token = c / routing.top_k;
      if (there.empty() || there.back() != token) {
        there.push_back(token);
      }
    }
  }
  return tokens;
}

RowExchange::Copies copies_for(Comm& rail, const std::vector<std::vector<std::size_t>>& tokens,
                               const std::string& algorithm, std::string_view label) {
  RowExchange::Copies copies;
  std::vector<std::int64_t> counts;
  for (const auto& of_node : tokens) {
    copies.rows.insert(copies.rows.end(), of_node.begin(), of_node.end());
    copies.sends.push_back(of_node.size());
    counts.push_back(static_cast<std::int64_t>(of_node.size()));
  }
  for (const std::int64_t count :
       exchange_counts(rail, counts, algorithm, std::string(label) + ".counts")) {
    copies.receives.push_back(static_cast<std::size_t>(count));
  }
  return copies;
}

std::vector<std::size_t> times(std::vector<std::size_t> counts, std::size_t factor) {
  for (std::size_t& count : counts) {
    count *= factor;
  }
  return counts;
}

}  // namespace

NodeRoutes::NodeRoutes(NodeGroups& groups, DeviceMemory& memory, const Routing& routing,
                       const std::string& algorithm, std::string_view label, bool shift)
    : tokens_(routing.tokens) {
  const auto nodes = static_cast<std::size_t>(groups.rail.size());
  const auto tokens = tokens_by_node(routing, groups.node_of_expert, nodes);
  auto copies = copies_for(groups.rail, tokens, algorithm, label);
  const std::size_t k = routing.top_k;
  std::vector<std::int32_t> sent;
  for (const std::size_t token : copies.rows) {
    const auto first = routing.experts.begin() + static_cast<std::ptrdiff_t>(token * k);
    sent.insert(sent.end(), first, first + static_cast<std::ptrdiff_t>(k));
  }
  rail_ = std::make_unique<RowExchange>(groups.rail, memory, copies, algorithm);
  Routing arrived{.tokens = rail_->received(), .top_k = k};
  arrived.experts.resize(arrived.tokens * k);
  all_to_all_v(groups.rail, buffer_of(std::span(sent)), times(copies.sends, k),
               buffer_of(std::span(arrived.experts)), times(copies.receives, k),
               {algorithm, std::string(label) + ".routes"});
  const auto here = static_cast<std::size_t>(groups.rail.rank());
  for (std::int32_t& e : arrived.experts) {
    e = e >= 0 && groups.node_of_expert[static_cast<std::size_t>(e)] == here ? e : -1;
  }
  inside_ = std::make_unique<FlatRoutes>(groups.node, memory, arrived, groups.in_node, algorithm,
                                         std::string(label) + ".in", shift);
}

Arriving NodeRoutes::to_experts(const Tensor& tokens, std::string_view label) {
  return [this, arriving = rail_->out(tokens, label), inside = std::string(label) + ".in"] {
    return inside_->to_experts(arriving(), inside)();
  };
}

Arriving NodeRoutes::from_experts(const Tensor& rows, std::string_view label) {
  const Tensor sums = inside_->from_experts(rows, std::string(label) + ".in")();
  return rail_->back(sums, tokens_, label);
}

Tensor NodeRoutes::weights_to_experts(const Tensor& weights, std::string_view label) {
  return inside_->weights_to_experts(rail_->out(weights, label)(), std::string(label) + ".in");
}

Tensor NodeRoutes::weights_from_experts(const Tensor& of_rows, std::string_view label) {
  const Tensor sums = inside_->weights_from_experts(of_rows, std::string(label) + ".in");
  return rail_->back(sums, tokens_, label)();
}

}  // namespace ringside
