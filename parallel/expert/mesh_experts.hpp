// The experts of one rank of a mesh: its groups, and what it knows of the routing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parallel/expert/expert_parallel.hpp"
#include "parallel/mesh.hpp"

namespace ringside {

struct ExpertPlan {
  Placement placement;  // on ep ranks
  bool by_node = false;
  bool two_at_once = false;  // micro-batches are computed in pairs (two_at_once.hpp)
  std::string all_to_all = "pairwise";
  std::string all_reduce = "ring";
  Fault fault = Fault::none;
};

class MeshExperts {
 public:
  // `blocks`: of context parallelism; `sequence`: rows are cut over the tensor-parallel ranks.
  // Throws what expert_group and ExpertParallel do. No communication.
  MeshExperts(Rank& rank, const Mesh& mesh, const ExpertPlan& plan,
              std::optional<TokenBlocks> blocks, bool sequence);

  std::shared_ptr<ExpertDispatch> dispatch() const { return parallel_->dispatch(); }

  // The ranks that hold the same experts, among those of dp and cp.
  Comm& holders() { return holders_; }

  const Comm& holders() const { return holders_; }

  // Over the ranks that hold all experts between them, 8 bytes all-reduced: the squares of a norm.
  double sum(double squares);

  // After a step. `copies`: the devices of a pipeline that have the same stages, or null.
  void end_step(Model& model, Comm* copies);

  // As they were at the end of the last step, of the whole batch.
  const std::vector<RouterState>& routers() const { return routers_; }

 private:
  ExpertPlan plan_;
  Comm together_;
  Comm holders_;
  Comm batch_;  // among which a step's tokens are cut
  Comm routing_group_;
  std::optional<ExpertParallel> parallel_;
  std::vector<RouterState> routers_;
};

}  // namespace ringside
