// Figures that are measured on running jobs: meta tensors at true scale.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scenarios/figure_inputs.hpp"

namespace ringside {

// The same traffic in the buckets of data parallelism, which are padded to a multiple of the ranks.
struct PaddedTraffic {
  std::string over{};         // "all 64 ranks"
  std::int64_t elements = 0;  // of padding, all buckets
  std::int64_t without = 0;   // bytes counted in one buffer, which needs no padding
  std::int64_t adds = 0;      // bytes, by formula
  std::int64_t counted = 0;   // bytes counted in the buckets

  bool holds() const { return without + adds == counted; }
};

// Of what each rank counted; ranks differ where a buffer does not divide evenly.
struct Executed {
  double mean = 0;
  double least = 0;
  double most = 0;
  std::string summed{};  // which traffic, by label
  std::optional<PaddedTraffic> padded{};
  std::string seen{};  // where the figure is no number: to be its property
};

// Of the ranks' values, whole numbers of `unit`: divided once, so that equal ranks leave no
// rounding.
Executed over_ranks(const std::vector<std::int64_t>& values, double unit, std::string summed);

// By the figure's id.
std::map<std::string, Executed> executed_figures(const FigureInputs& inputs);

// Model state, traffic and layer inputs of a step under data parallelism and ZeRO.
std::map<std::string, Executed> executed_stages(const FigureInputs& inputs);

// An all-reduce of the gradients by ring or naive, in buckets: all that the ranks send, or what
// rank 0 receives. `without`: the same bytes of one buffer.
PaddedTraffic in_padded_buckets(const FigureInputs& inputs, int ranks, std::string_view algorithm,
                                std::int64_t without);
// Those of section pitfalls that need a job of their own.
std::map<std::string, Executed> executed_pitfall_figures(const FigureInputs& inputs);
// Those of section PP.
std::map<std::string, Executed> executed_pipeline_figures(const FigureInputs& inputs);
// Those of section CP.
std::map<std::string, Executed> executed_context_figures(const FigureInputs& inputs);

}  // namespace ringside
