#include "collectives/definition.hpp"

#include "collectives/chunk.hpp"

namespace ringside {

int chunk_with(std::size_t n, int p, std::size_t i) {
  const auto ranks = static_cast<std::size_t>(p);
  const std::size_t longer = n % ranks * (n / ranks + 1);  // elements of the longer chunks
  return static_cast<int>(i < longer ? i / (n / ranks + 1)
                                     : n % ranks + (i - longer) / (n / ranks));
}

Required required(const CollectiveCall& call, int ranks, int rank, std::size_t i) {
  const Required reduced{Required::reduction, 0, i};
  const Required kept{Required::element, rank, i};
  const bool root = rank == call.root;
  if (call.operation == "all_reduce") {
    return reduced;
  }
  if (call.operation == "reduce") {
    return root ? reduced : kept;
  }
  if (call.operation == "broadcast") {
    return {Required::element, call.root, i};
  }
  if (call.operation == "barrier") {
    return kept;
  }
  const int owner = chunk_with(call.count, ranks, i);
  if (call.operation == "reduce_scatter") {
    return owner == rank ? reduced : Required{};
  }
  if (call.operation == "all_gather") {
    return {Required::element, owner, i};
  }
  if (call.operation == "gather") {
    return root ? Required{Required::element, owner, i} : kept;
  }
  if (call.operation == "scatter") {
    return owner == rank ? Required{Required::element, call.root, i} : kept;
  }
  const auto part = call.count / static_cast<std::size_t>(ranks);  // all_to_all
  return {Required::element, owner, static_cast<std::size_t>(rank) * part + i % part};
}

}  // namespace ringside
