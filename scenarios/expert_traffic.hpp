// The bytes of expert parallelism, from the choices of one process's routers and nothing of the
// run: what every rank sends and receives to get tokens to experts and back.
#pragma once

#include <array>
#include <vector>

#include "runtime/traffic.hpp"
#include "scenarios/run_report.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

// Copies of tokens' rows of one rank, all steps and layers, one way (dispatch).
struct CopiesCounted {
  std::int64_t out = 0;  // to other ranks: to an expert's, or to its node's forwarder
  std::int64_t in = 0;
  std::int64_t out_inside = 0;  // by node: forwarded inside the node
  std::int64_t in_inside = 0;
  std::int64_t out_across = 0;  // of `out`: to another node
  std::int64_t routings = 0;    // that the rank took part in: of a micro-batch, in a layer
  std::int64_t runs = 0;        // of neighbouring tokens in these
};

struct RoutingCounted {
  std::vector<CopiesCounted> ranks{};
  std::int64_t tokens = 0;           // routed, all layers
  std::int64_t nodes = 0;            // that they went to, added up
  std::int64_t most_nodes = 0;       // of a token
  std::vector<std::int64_t> rows{};  // choices computed by each rank
};

// Of a training of the scenario in one process.
RoutingCounted count_routing(const Settings& settings, const TrainingPlan& plan,
                             const Reference& truth);

// Rows for the report, of every rank, forward and backward together: dispatch and combine, the
// weights of choices, what is counted before, and what routers sum after.
std::vector<TrafficComparison> compare_expert_traffic(const Settings& settings,
                                                      const RoutingCounted& counted,
                                                      const JobResult& job);

}  // namespace ringside
