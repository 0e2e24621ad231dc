// Tokens to the nodes of their experts, one copy a node, and from there to the experts inside it
// (DeepSeek-V3, section 3.2.2).
//
// A copy goes to the rank of the node that has this rank's place in its own; that one forwards it.
// On the way back it adds up what the node's experts gave, and one row returns.
#pragma once

#include "parallel/expert/flat_routes.hpp"

namespace ringside {

// The groups of one rank: those with its place in every node, in node order, and its own node.
struct NodeGroups {
  Comm& rail;
  Comm& node;
  std::vector<std::size_t> node_of_expert;  // by expert
  ExpertOrder in_node;                      // the experts of this node, by rank
};

class NodeRoutes : public ExpertRoutes {
 public:
  // Before the rows travel their experts: 4 bytes a choice of each copy, under "<label>.routes".
  NodeRoutes(NodeGroups& groups, DeviceMemory& memory, const Routing& routing,
             const std::string& algorithm, std::string_view label, bool shift = false);

  const std::vector<ExpertSegment>& segments() const override { return inside_->segments(); }

  std::size_t rows() const override { return inside_->rows(); }

  // What goes inside a node is logged under "<label>.in".
  Arriving to_experts(const Tensor& tokens, std::string_view label) override;
  Arriving from_experts(const Tensor& rows, std::string_view label) override;
  Tensor weights_to_experts(const Tensor& weights, std::string_view label) override;
  Tensor weights_from_experts(const Tensor& of_rows, std::string_view label) override;

 private:
  std::size_t tokens_;
  std::unique_ptr<RowExchange> rail_;
  std::unique_ptr<FlatRoutes> inside_;
};

}  // namespace ringside
