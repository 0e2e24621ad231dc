// Expert parallelism: the experts of every mixture are spread over the ranks of a group, and tokens
// travel to them (GShard, section 3; DeepSeek-V3, section 3.2).
//
// The ranks of a group have tokens of their own, as data-parallel ranks do: the group is part of
// dp x cp. An expert's gradient is the sum over all tokens of the group, added where the expert is;
// ranks of other groups that hold the same experts (expert data parallelism) have the rest of it.
// All sums are over tokens, so nothing is divided by ep.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/expert_dispatch.hpp"
#include "models/model.hpp"
#include "models/router_state.hpp"
#include "parallel/expert/node_routes.hpp"
#include "parallel/expert/placement.hpp"
#include "parallel/expert/token_places.hpp"
#include "parallel/fault.hpp"

namespace ringside {

struct ExpertParallelOptions {
  bool by_node = false;  // one copy of a token a node, forwarded there; otherwise straight
  std::string all_to_all = "pairwise";
  std::string all_reduce = "ring";
  // The ranks that have parts of one micro-batch's tokens (sequence and context parallelism): its
  // routing group. None: this rank has all of them.
  Comm* routing_group = nullptr;
  TokenPlaces places{};
  Fault fault = Fault::none;
};

// Where the experts of this rank's models are computed. `group`: the expert-parallel ranks, which
// with `by_node` are as many on each node, and outlive it. Throws BadUse otherwise.
class ExpertParallel {
 public:
  ExpertParallel(Comm& group, DeviceMemory& memory, Placement placement,
                 ExpertParallelOptions options = {});
  ~ExpertParallel();

  // For GptPart: its models have this rank's experts.
  std::shared_ptr<ExpertDispatch> dispatch() const;

  const Placement& placement() const { return placement_; }

  // After a step: counts are summed over `groups`, one after the other, which make up the ranks
  // among which the step's tokens were cut, and all routers move their biases alike. What the
  // routers counted is returned, for the record.
  std::vector<RouterState> end_step(Model& model, const std::vector<Comm*>& groups) const;

 private:
  class Dispatch;

  Placement placement_;
  ExpertParallelOptions options_;
  std::shared_ptr<Dispatch> dispatch_;
};

}  // namespace ringside
