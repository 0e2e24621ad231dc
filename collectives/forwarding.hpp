// All-to-all in two tiers: what a rank has for another node crosses in one message, to one rank of
// that node, which forwards it there.
//
// Rank i's messages for a node go to its member (place of i in its own node) mod (size), so that
// the work is spread. Where parts are unequal, a message of counts goes ahead of each.
#pragma once

#include <vector>

#include "collectives/all_to_all.hpp"
#include "collectives/nodes.hpp"

namespace ringside {

class Forwarding {
 public:
  Forwarding(Comm& comm, const Parts& in, const Parts& out);

  void send_across();
  void exchange_inside();
  void forward();

  // Of equal parts.
  static int steps(const Shape& shape);
  static std::size_t sent(const Shape& shape);

 private:
  // What came from one rank for all of my node.
  struct Arrival {
    int source;
    Tensor data;
    std::vector<std::size_t> firsts;  // by member of my node, and the end
  };

  // The member of `node` that forwards what `source` has for it.
  int proxy(int source, int node) const { return nodes_.member(node, nodes_.local(source)); }

  std::vector<std::size_t> receive_counts(int source);
  Arrival receive(int source);

  Comm& comm_;
  const Parts& in_;
  const Parts& out_;
  Nodes nodes_;
  int node_;
  std::vector<Tensor> packed_;  // in flight until the end
  std::vector<std::vector<std::int64_t>> counts_;
  std::vector<Arrival> arrivals_;
  std::vector<Request> sends_;
};

}  // namespace ringside
