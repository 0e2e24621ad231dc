#include "collectives/forwarding.hpp"

#include <numeric>

namespace ringside {

Forwarding::Forwarding(Comm& comm, const Parts& in, const Parts& out)
    : comm_(comm),
      in_(in),
      out_(out),
      nodes_(shape_of(comm, in.all().count)),
      node_(nodes_.node_of(comm.rank())) {
  counts_.reserve(static_cast<std::size_t>(nodes_.count()));  // their memory is in flight
}

void Forwarding::send_across() {
  comm_.next_step("across");
  for (int k = 1; k < nodes_.count(); ++k) {
    const int node = (node_ + k) % nodes_.count();
    Buffer all = in_.all();
    all.count = 0;
    auto& counts = counts_.emplace_back();
    for (const int r : nodes_.members(node)) {
      counts.push_back(static_cast<std::int64_t>(in_[r].count));
      all.count += in_[r].count;
    }
    const Buffer packed = packed_.emplace_back(comm_.scratch(all)).buffer();
    std::size_t first = 0;
    for (const int r : nodes_.members(node)) {
      comm_.copy(in_[r], packed.slice(first, in_[r].count));
      first += in_[r].count;
    }
    const int to = proxy(comm_.rank(), node);
    if (!in_.uniform()) {
      sends_.push_back(comm_.isend(to, buffer_of(std::span(counts))));
    }
    sends_.push_back(comm_.isend(to, packed));
  }
}

void Forwarding::exchange_inside() {
  comm_.next_step("inside");
  const int me = comm_.rank();
  comm_.copy(in_[me], out_[me]);
  const int local = nodes_.local(me);
  for (int k = 1; k < nodes_.size(node_); ++k) {
    const int to = nodes_.member(node_, local + k);
    sends_.push_back(comm_.isend(to, in_[to]));
  }
  for (int k = 1; k < nodes_.size(node_); ++k) {
    const int from = nodes_.member(node_, local - k);
    comm_.recv(from, out_[from]);
  }
}

std::vector<std::int64_t> Forwarding::receive_counts(int source) {
  const auto members = static_cast<std::size_t>(nodes_.size(node_));
  std::vector<std::int64_t> counts(members, static_cast<std::int64_t>(in_[0].count));
  if (!in_.uniform()) {
    comm_.recv(source, buffer_of(std::span(counts)));
  }
  return counts;
}

// A rank that neither gives nor gets anything still forwards: its device memory says.
Backing Forwarding::backing() const {
  const Buffer own = in_.all().count > 0 ? in_.all() : out_.all();
  return own.count == 0 ? comm_.owner().memory().backing() : own.backing();
}

Forwarding::Arrival Forwarding::receive(int source) {
  auto counts = receive_counts(source);
  const auto all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const Buffer like{nullptr, static_cast<std::size_t>(all), in_.all().dtype};
  Arrival arrival{source, std::move(counts), comm_.scratch(like, backing())};
  comm_.recv(source, arrival.data.buffer());
  return arrival;
}

void Forwarding::expect(int source, std::int64_t sent) const {
  const Buffer mine = out_[source];
  if (static_cast<std::size_t>(sent) == mine.count) {
    return;
  }
  const std::string type(name_of(mine.dtype));
  throw Desync("group " + comm_.name() + ": rank " + std::to_string(comm_.owner().id()) +
               " expects " + std::to_string(mine.count) + " elements of " + type + " from rank " +
               std::to_string(comm_.world_rank(source)) + ", which sent " + std::to_string(sent) +
               " of " + type + " in all_to_all_v (hierarchical)");
}

// What came from one rank, to the members of my node.
void Forwarding::pass_on(Arrival& arrival) {
  std::size_t first = 0;
  for (int j = 0; j < nodes_.size(node_); ++j) {
    auto& count = arrival.counts[static_cast<std::size_t>(j)];
    Buffer part = arrival.data.buffer().slice(first, static_cast<std::size_t>(count));
    part.chunk = arrival.source;
    first += part.count;
    const int to = nodes_.member(node_, j);
    if (to == comm_.rank()) {
      expect(arrival.source, count);
      comm_.copy(part, out_[arrival.source]);
      continue;
    }
    if (!in_.uniform()) {
      sends_.push_back(comm_.isend(to, buffer_of(std::span(&count, 1))));
    }
    sends_.push_back(comm_.isend(to, part));
  }
}

void Forwarding::receive_forwarded(int source) {
  const int from = proxy(source, node_);
  if (!in_.uniform()) {
    std::int64_t count = 0;
    comm_.recv(from, buffer_of(std::span(&count, 1)));
    expect(source, count);
  }
  comm_.recv(from, out_[source]);
}

// In the order of sources everywhere, so that a rank knows which message of a proxy is whose.
void Forwarding::forward() {
  comm_.next_step("forward");
  for (int source = 0; source < comm_.size(); ++source) {
    if (nodes_.node_of(source) != node_ && proxy(source, node_) == comm_.rank()) {
      pass_on(arrivals_.emplace_back(receive(source)));
    }
  }
  for (int source = 0; source < comm_.size(); ++source) {
    if (nodes_.node_of(source) != node_ && proxy(source, node_) != comm_.rank()) {
      receive_forwarded(source);
    }
  }
  for (Request& send : sends_) {
    send.wait();
  }
}

int Forwarding::steps(const Shape& shape) {
  const Nodes nodes(shape);
  return (nodes.count() > 1 ? 1 : 0) + (nodes.largest() > 1 ? 1 : 0);
}

std::size_t Forwarding::sent(const Shape& shape) {
  const Nodes nodes(shape);
  const int node = nodes.node_of(shape.rank);
  int served = 0;
  for (int source = 0; source < shape.p; ++source) {
    served += nodes.node_of(source) != node && nodes.member(node, nodes.local(source)) == shape.rank
                  ? 1
                  : 0;
  }
  const std::size_t part = shape.n / static_cast<std::size_t>(shape.p);
  return part * (static_cast<std::size_t>(shape.p - 1) +
                 static_cast<std::size_t>(served * (nodes.size(node) - 1)));
}

}  // namespace ringside
