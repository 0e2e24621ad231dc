// All-to-all in two tiers: what a rank has for another node crosses in one message, to one rank of
// that node, which forwards it there.
//
// Rank i's messages for a node go to its member (place of i in its own node) mod (size), so that
// the work is spread. Where parts are unequal, a message of counts goes ahead of each, across and
// inside: a receiver learns what the first sender has sent it, and not only what was forwarded.
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
    std::vector<std::int64_t> counts;  // by member of my node
    Tensor data;
  };

  // The member of `node` that forwards what `source` has for it.
  int proxy(int source, int node) const { return nodes_.member(node, nodes_.local(source)); }

  std::vector<std::int64_t> receive_counts(int source);
  Backing backing() const;
  Arrival receive(int source);
  void pass_on(Arrival& arrival);
  void receive_forwarded(int source);
  // Throws Desync when `source` has sent me another number of elements than I expect.
  void expect(int source, std::int64_t sent) const;

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
