// Where training with a changed all-reduce leaves its definition, why, and how far it drifts.
//
// The definition is one process that runs the shards in turn and adds every part once: in the order
// of the run's own expression, or of the ranks where that is incomplete. No other algorithm is
// looked at.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/training_job.hpp"

namespace ringside {

// The first element of a gradient with other bits than the definition's.
struct Departure {
  int step = 0;  // of the training, from 1
  int rank = 0;
  int bucket = 0;
  std::uint64_t element = 0;
  int chunk = 0;
  double run = 0;
  double definition = 0;
  std::uint64_t elements = 0;  // that differ in this step on this rank
  std::string cause{};         // what the expressions say of it
};

struct DriftStep {
  double loss = 0;
  double definition = 0;
  double gradient = 0;    // max |difference|
  double parameters = 0;  // the same, after the update
};

struct Drift {
  std::string optimizer;
  std::vector<DriftStep> steps{};
};

struct Divergence {
  std::optional<Departure> first{};
  std::vector<Drift> drifts{};
};

struct DivergenceRequest {
  Settings settings;
  std::string_view text;
  JobOptions options;
  const AllReduce* planted = nullptr;  // instead of the settings' all-reduce
};

// Throws what a failed rank stands for, in the run or on symbols.
Divergence find_divergence(const DivergenceRequest& request);

std::string divergence_text(const Divergence& divergence);
nlohmann::json divergence_json(const Divergence& divergence);

}  // namespace ringside
