#include "collectives/hierarchy.hpp"

namespace ringside {

namespace {

int modulo(int a, int n) {
  return ((a % n) + n) % n;
}

Buffer slice(Buffer data, Chunk c) {
  return data.slice(c.first, c.count);
}

}  // namespace

Hierarchy::Hierarchy(const Shape& shape)
    : shape_(shape),
      nodes_(shape),
      node_(nodes_.node_of(shape.rank)),
      local_(nodes_.local(shape.rank)),
      inside_(nodes_.size(node_)),
      pieces_(nodes_.largest()) {}

// The pieces of members `out` and `in` of my node. Both may own another number of pieces.
std::vector<Hierarchy::Hop> Hierarchy::hops_inside(int out, int in) const {
  std::vector<Hop> hops;
  const int to = nodes_.member(node_, local_ + 1);
  const int from = nodes_.member(node_, local_ - 1);
  for (int q = 0; q < pieces_; ++q) {
    const bool goes = q % inside_ == modulo(out, inside_);
    const bool comes = q % inside_ == modulo(in, inside_);
    if (goes) {
      hops.push_back({to, -1, piece(q), {}});
    }
    if (comes) {
      hops.push_back({-1, from, {}, piece(q)});
    }
  }
  return hops;
}

// Of each piece that I own, the parts of the nodes `out` and `in`.
std::vector<Hierarchy::Hop> Hierarchy::hops_across(int out, int in) const {
  std::vector<Hop> hops;
  const int nodes = nodes_.count();
  for (int q = local_; q < pieces_; q += inside_) {
    const Chunk whole = piece(q);
    const auto part = [&](int index) {
      Chunk c = chunk_of(whole.count, nodes, index);
      c.first += whole.first;
      return c;
    };
    hops.push_back({nodes_.member(modulo(node_ + 1, nodes), q),
                    nodes_.member(modulo(node_ - 1, nodes), q), part(out), part(in)});
  }
  return hops;
}

namespace {

// All hops of a step at once; `take` receives.
template <class Hops, class Take>
void step(Comm& comm, Buffer data, const Hops& hops, Take&& take) {
  std::vector<Request> sends;
  for (const auto& hop : hops) {
    if (hop.to >= 0) {
      sends.push_back(comm.isend(hop.to, slice(data, hop.out)));
    }
  }
  for (const auto& hop : hops) {
    if (hop.from >= 0) {
      take(hop.from, slice(data, hop.in));
    }
  }
  for (Request& send : sends) {
    send.wait();
  }
}

}  // namespace

void Hierarchy::reduce_scatter_inside(Comm& comm, Buffer data, ReduceOp op) const {
  for (int k = 0; k < inside_ - 1; ++k) {
    comm.next_step("reduce_scatter");
    step(comm, data, hops_inside(local_ - k - 1, local_ - k - 2),
         [&](int from, Buffer into) { comm.recv_reduce(from, into, op); });
  }
}

void Hierarchy::all_reduce_across(Comm& comm, Buffer data, ReduceOp op) const {
  for (int k = 0; k < nodes_.count() - 1; ++k) {
    comm.next_step("across_reduce");
    step(comm, data, hops_across(node_ - k - 1, node_ - k - 2),
         [&](int from, Buffer into) { comm.recv_reduce(from, into, op); });
  }
  for (int k = 0; k < nodes_.count() - 1; ++k) {
    comm.next_step("across_gather");
    step(comm, data, hops_across(node_ - k, node_ - k - 1),
         [&](int from, Buffer into) { comm.recv(from, into); });
  }
}

void Hierarchy::all_gather_inside(Comm& comm, Buffer data) const {
  for (int k = 0; k < inside_ - 1; ++k) {
    comm.next_step("all_gather");
    step(comm, data, hops_inside(local_ - k, local_ - k - 1),
         [&](int from, Buffer into) { comm.recv(from, into); });
  }
}

int Hierarchy::steps() const {
  return 2 * (pieces_ - 1) + 2 * (nodes_.count() - 1);
}

std::size_t Hierarchy::sent() const {
  std::size_t mine = 0;
  std::size_t neighbours = 0;
  std::size_t across = 0;
  for (int q = 0; q < pieces_; ++q) {
    const std::size_t n = piece(q).count;
    neighbours += q % inside_ == modulo(local_ + 1, inside_) ? n : 0;
    if (q % inside_ == local_) {
      mine += n;
      across += 2 * n - chunk_of(n, nodes_.count(), node_).count -
                chunk_of(n, nodes_.count(), node_ + 1).count;
    }
  }
  const std::size_t inside = inside_ > 1 ? 2 * shape_.n - mine - neighbours : 0;
  return inside + (nodes_.count() > 1 ? across : 0);
}

}  // namespace ringside
