// Two-level all-reduce: inside every node, then across nodes, then inside again.
//
// The data is cut into as many pieces as the largest node has ranks. Inside a node of l ranks,
// member j ends its reduce-scatter with the pieces q for which q mod l = j; across nodes, the
// owners of a piece all-reduce it on a ring. Where all nodes are as large, every rank owns one
// piece.
#pragma once

#include <cstddef>
#include <vector>

#include "collectives/chunk.hpp"
#include "collectives/nodes.hpp"

namespace ringside {

class Hierarchy {
 public:
  explicit Hierarchy(const Shape& shape);

  void reduce_scatter_inside(Comm& comm, Buffer data, ReduceOp op) const;
  void all_reduce_across(Comm& comm, Buffer data, ReduceOp op) const;
  void all_gather_inside(Comm& comm, Buffer data) const;

  // Exact where all nodes are as large; at most this many otherwise.
  int steps() const;
  std::size_t sent() const;

 private:
  // One piece on its way: out to the next of a ring, in from the one before.
  struct Hop {
    int to;
    int from;
    Chunk out;
    Chunk in;
  };

  std::vector<Hop> hops_inside(int out, int in) const;
  std::vector<Hop> hops_across(int out, int in) const;

  Chunk piece(int q) const { return chunk_of(shape_.n, pieces_, q); }

  Shape shape_;
  Nodes nodes_;
  int node_;    // mine
  int local_;   // my place in it
  int inside_;  // ranks in it
  int pieces_;
};

}  // namespace ringside
