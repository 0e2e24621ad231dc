#include "scenarios/definition_sentence.hpp"

#include <spdlog/fmt/fmt.h>

namespace ringside {

namespace {

std::string_view result_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return "the product";
    case ReduceOp::min:
      return "the minimum";
    case ReduceOp::max:
      return "the maximum";
    case ReduceOp::avg:
      return "the average";
    default:
      return "the sum";
  }
}

}  // namespace

std::string definition_sentence(const CollectiveCall& call) {
  const auto over_all =
      fmt::format("{} of that element over all ranks, each once", result_of(call.op));
  if (call.operation == "all_reduce") {
    return "every element of every rank is " + over_all + ", and equal on all ranks";
  }
  if (call.operation == "reduce_scatter") {
    return "every element of chunk r is, on rank r, " + over_all;
  }
  if (call.operation == "reduce") {
    return fmt::format("every element of rank {} is {}; the others keep theirs", call.root,
                       over_all);
  }
  if (call.operation == "all_gather") {
    return "chunk r is, on every rank, what rank r held in it";
  }
  if (call.operation == "gather") {
    return fmt::format("chunk r is, on rank {}, what rank r held in it; the others keep theirs",
                       call.root);
  }
  if (call.operation == "scatter") {
    return fmt::format("chunk r is, on rank r, what rank {} held in it; all else is kept",
                       call.root);
  }
  if (call.operation == "broadcast") {
    return fmt::format("every rank holds what rank {} held", call.root);
  }
  if (call.operation == "barrier") {
    return "nobody leaves before all have come; no data moves";
  }
  return "part s of rank r is what rank s held in its part r";
}

}  // namespace ringside
