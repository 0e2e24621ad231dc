// All-gather of n elements in all over p ranks. Plainest first, best last; add yours and a row
// below.
#include "collectives/all_gather.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "collectives/chunk.hpp"
#include "collectives/nodes.hpp"

namespace ringside {

namespace {

// Every chunk travels once round the ring.
void ring(Comm& comm, Buffer data) {
  const int me = comm.rank();
  for (int step = 0; step < comm.size() - 1; ++step) {
    comm.next_step("all_gather");
    comm.send_recv(comm.next(), chunk(data, comm, me - step),  //
                   comm.prev(), chunk(data, comm, me - step - 1));
  }
}

// Every rank sends its chunk to each other one.
void direct(Comm& comm, Buffer data) {
  const int me = comm.rank();
  const int p = comm.size();
  std::vector<Request> sends;
  comm.next_step("all_gather");
  for (int k = 1; k < p; ++k) {
    sends.push_back(comm.isend((me + k) % p, chunk(data, comm, me)));
  }
  for (int k = 1; k < p; ++k) {
    comm.recv((me + p - k) % p, chunk(data, comm, me - k));
  }
  for (auto& send : sends) {
    send.wait();
  }
}

// After k steps a rank has the 2^k chunks from its own on, laid out from the start of a scratch
// buffer; at the end they are turned to their places.
void bruck(Comm& comm, Buffer data) {
  const int me = comm.rank();
  const int p = comm.size();
  const Tensor scratch = comm.scratch(data);
  std::vector<std::size_t> start{0};  // of chunk me + j in the scratch buffer
  for (int j = 0; j < p; ++j) {
    start.push_back(start.back() + chunk_of(data.count, p, me + j).count);
  }
  const auto chunks = [&](int first, int count) {
    const auto a = start[static_cast<std::size_t>(first)];
    return scratch.buffer().slice(a, start[static_cast<std::size_t>(first + count)] - a);
  };
  comm.copy(chunk(data, comm, me), chunks(0, 1));
  for (int have = 1; have < p; have *= 2) {
    const int more = std::min(have, p - have);
    comm.next_step("all_gather");
    comm.send_recv((me + p - have) % p, chunks(0, more), (me + have) % p, chunks(have, more));
  }
  for (int j = 1; j < p; ++j) {
    comm.copy(chunks(j, 1), chunk(data, comm, me + j));
  }
}

std::size_t sent_bruck(const Shape& s) {
  std::size_t sent = 0;
  for (int have = 1; have < s.p; have *= 2) {
    for (int j = 0; j < std::min(have, s.p - have); ++j) {
      sent += chunk_of(s.n, s.p, s.rank + j).count;
    }
  }
  return sent;
}

// The chunks of the ranks of my node travel once round it.
void ring_inside(Comm& comm, Buffer data, const Nodes& nodes) {
  const int node = nodes.node_of(comm.rank());
  const int local = nodes.local(comm.rank());
  const auto chunk_from = [&](int k) { return chunk(data, comm, nodes.member(node, local - k)); };
  for (int k = 0; k < nodes.size(node) - 1; ++k) {
    comm.next_step("inside");
    comm.send_recv(nodes.member(node, local + 1), chunk_from(k),  //
                   nodes.member(node, local - 1), chunk_from(k + 1));
  }
}

// A ring inside every node; a ring of the nodes' first ranks, on which every chunk crosses to a
// node once; and the first rank tells the others of its node.
void hierarchical(Comm& comm, Buffer data) {
  const Nodes nodes(shape_of(comm, data.count));
  const int node = nodes.node_of(comm.rank());
  const bool first = nodes.local(comm.rank()) == 0;
  const int m = nodes.count();
  std::vector<Request> sends;
  const auto send = [&](int to, int of_node) {
    for (const int r : nodes.members(of_node)) {
      sends.push_back(comm.isend(to, chunk(data, comm, r)));
    }
  };
  const auto recv = [&](int from, int of_node) {
    for (const int r : nodes.members(of_node)) {
      comm.recv(from, chunk(data, comm, r));
    }
  };
  ring_inside(comm, data, nodes);
  for (int k = 0; k < m - 1 && first; ++k) {
    comm.next_step("across");
    send(nodes.member((node + 1) % m, 0), (node + m - k) % m);
    recv(nodes.member((node + m - 1) % m, 0), (node + m - k - 1) % m);
  }
  comm.next_step("spread");
  for (int other = (node + 1) % m; other != node; other = (other + 1) % m) {
    if (!first) {
      recv(nodes.member(node, 0), other);
    }
    for (int j = 1; j < nodes.size(node) && first; ++j) {
      send(nodes.member(node, j), other);
    }
  }
  for (auto& request : sends) {
    request.wait();
  }
}

std::size_t elements_of(const Shape& s, const std::vector<int>& ranks) {
  std::size_t n = 0;
  for (const int r : ranks) {
    n += chunk_of(s.n, s.p, r).count;
  }
  return n;
}

int steps_hierarchical(const Shape& s) {
  const Nodes nodes(s);
  const bool spread = nodes.count() > 1 && nodes.largest() > 1;
  return nodes.largest() - 1 + nodes.count() - 1 + (spread ? 1 : 0);
}

std::size_t sent_hierarchical(const Shape& s) {
  const Nodes nodes(s);
  const int node = nodes.node_of(s.rank);
  const auto mine = elements_of(s, nodes.members(node));
  const int after = nodes.member(node, nodes.local(s.rank) + 1);
  std::size_t sent = nodes.size(node) > 1 ? mine - chunk_of(s.n, s.p, after).count : 0;
  if (nodes.local(s.rank) == 0 && nodes.count() > 1) {
    sent += s.n - elements_of(s, nodes.members((node + 1) % nodes.count()));
    sent += (s.n - mine) * static_cast<std::size_t>(nodes.size(node) - 1);
  }
  return sent;
}

constexpr std::array algorithms{
    AllGather{.name = "ring",
              .run = ring,
              .steps = [](const Shape& s) { return s.p - 1; },
              .sent = [](const Shape& s) { return s.n - chunk_of(s.n, s.p, s.rank + 1).count; },
              .paper = "Patarasuk and Yuan 2009, section 3"},
    AllGather{.name = "bruck",
              .run = bruck,
              .steps =
                  [](const Shape& s) {
                    return static_cast<int>(std::bit_width(static_cast<unsigned>(s.p - 1)));
                  },
              .sent = sent_bruck,
              .paper = "Bruck and others 1997; Thakur, Rabenseifner and Gropp 2005, section 4.1"},
    AllGather{.name = "hierarchical",
              .run = hierarchical,
              .steps = steps_hierarchical,
              .sent = sent_hierarchical,
              .paper = "Traff 2006"},
    AllGather{.name = "direct",
              .run = direct,
              .steps = [](const Shape& s) { return s.p > 1 ? 1 : 0; },
              .sent =
                  [](const Shape& s) {
                    return chunk_of(s.n, s.p, s.rank).count * static_cast<std::size_t>(s.p - 1);
                  },
              .paper = "by definition"},
};

}  // namespace

std::span<const AllGather> all_gather_algorithms() {
  return algorithms;
}

namespace {

Work launch(Comm& comm, Buffer data, Choice choice) {
  const auto& algorithm = pick(all_gather_algorithms(), "all_gather",
                               chosen("all_gather", choice.algorithm, comm, data.bytes()));
  return comm.launch({.count = data.count,
                      .operation = std::string_view("all_gather"),
                      .algorithm = algorithm.name,
                      .label = choice.label,
                      .dtype = data.dtype},
                     [&] { algorithm.run(comm, data); });
}

}  // namespace

void all_gather(Comm& comm, Buffer data, Choice choice) {
  launch(comm, data, choice).wait();
}

Work all_gather_async(Comm& comm, const Tensor& data, Choice choice) {
  Work work = launch(comm, data.buffer(), choice);
  work.holds(data, "all_gather on group " + comm.name());
  return work;
}

void all_gather(Comm& comm, Buffer mine, Buffer all, Choice choice) {
  comm.copy(mine, chunk(all, comm, comm.rank()));
  all_gather(comm, all, choice);
}

}  // namespace ringside
