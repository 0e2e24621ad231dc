// Where the experts of a mixture are computed, as its layers see it: by default here, all of them.
// Expert parallelism replaces it, and has a part of the experts on each rank.
//
// Rows are copies of tokens, one for each expert that a token goes to. Sending rows to the experts
// and summing what comes back are each other's gradients, so one pair of calls does forward and
// backward.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "models/expert_choice.hpp"
#include "models/layer.hpp"
#include "models/token_runs.hpp"

namespace ringside {

// Rows [first, first + count) of those that are here belong to one expert.
struct ExpertSegment {
  std::size_t expert = 0;  // its place among the experts here
  std::size_t first = 0;
  std::size_t count = 0;
};

// Something under way: called once, it waits for it. Between, other work can be done.
using Arriving = std::function<Tensor()>;

// The way of one micro-batch's tokens through one layer. `label`: what the rows are, for the log.
class ExpertRoutes {
 public:
  virtual ~ExpertRoutes() = default;

  // In row order. The bits of a product depend on the rows beside it, so a segment is what is
  // multiplied at once; those of one expert come in the order in which gradients are added.
  virtual const std::vector<ExpertSegment>& segments() const = 0;

  virtual std::size_t rows() const = 0;

  // [tokens, width] -> [rows, width]: a copy of the token for each of its choices.
  virtual Arriving to_experts(const Tensor& tokens, std::string_view label) = 0;
  // [rows, width] -> [tokens, width]: the sum over each token's choices, in the order of the
  // experts; 0 for a token without any.
  virtual Arriving from_experts(const Tensor& rows, std::string_view label) = 0;
  // [tokens, top_k] -> [rows, 1]: what belongs to the choice.
  virtual Tensor weights_to_experts(const Tensor& weights, std::string_view label) = 0;
  // [rows, 1] -> [tokens, top_k]; 0 for a dropped choice.
  virtual Tensor weights_from_experts(const Tensor& of_rows, std::string_view label) = 0;
};

class ExpertDispatch {
 public:
  virtual ~ExpertDispatch() = default;

  // Which of `experts` experts are here, in the order of the rows.
  virtual std::vector<std::size_t> experts_here(std::size_t experts) const;

  // Of the `rows` that a layer is given, those that are tokens; the others are padding, which goes
  // nowhere. `sequences`: of the micro-batch, or null. As many runs on every rank that shares the
  // routing group, though some be empty.
  virtual std::vector<TokenRun> tokens_here(std::size_t rows, const Sequences* sequences) const;

  // Of all runs of the routing group, when those here are given.
  virtual std::vector<RunCounts> group_counts(const std::vector<RunCounts>& here,
                                              std::string_view label);

  virtual std::unique_ptr<ExpertRoutes> route(Device device, const Routing& routing,
                                              std::size_t experts, std::string_view label);
};

}  // namespace ringside
