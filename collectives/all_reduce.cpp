// All-reduce of n elements over p ranks. Plainest first, best last; add yours and a row below.
#include "collectives/all_reduce.hpp"

#include <array>

#include "collectives/chunk.hpp"
#include "collectives/hierarchy.hpp"
#include "collectives/power_of_two.hpp"
#include "collectives/wide_average.hpp"

namespace ringside {

namespace {

// Everything to rank 0, which adds in rank order and sends the sum back to each.
void naive(Comm& comm, Buffer data, ReduceOp op) {
  comm.next_step("gather");
  if (comm.rank() == 0) {
    for (int r = 1; r < comm.size(); ++r) {
      comm.recv_reduce(r, data, op);
    }
  } else {
    comm.send(0, data);
  }
  comm.next_step("broadcast");
  if (comm.rank() == 0) {
    for (int r = 1; r < comm.size(); ++r) {
      comm.send(r, data);
    }
  } else {
    comm.recv(0, data);
  }
}

// Chunk c starts on rank c+1, travels once round the ring, and ends, fully reduced, on rank c;
// then every finished chunk travels round once more.
void ring(Comm& comm, Buffer data, ReduceOp op) {
  const int me = comm.rank();
  for (int step = 0; step < comm.size() - 1; ++step) {
    comm.next_step("reduce_scatter");
    comm.send_recv_reduce(comm.next(), chunk(data, comm, me - step - 1),  //
                          comm.prev(), chunk(data, comm, me - step - 2), op);
  }
  for (int step = 0; step < comm.size() - 1; ++step) {
    comm.next_step("all_gather");
    comm.send_recv(comm.next(), chunk(data, comm, me - step),  //
                   comm.prev(), chunk(data, comm, me - step - 1));
  }
}

// Everything is exchanged with the rank at distance 1, 2, 4…: log2 p steps, the whole buffer each.
void recursive_doubling(Comm& comm, Buffer data, ReduceOp op) {
  with_power_of_two(comm, data, op, [&](const PowerOfTwo& ranks) {
    for (int distance = 1; distance < ranks.count; distance *= 2) {
      const int peer = ranks.real(ranks.mine ^ distance);
      comm.next_step("exchange");
      comm.send_recv_reduce(peer, data, peer, data, op);
    }
  });
}

// Reduce-scatter by halving distances, then all-gather by doubling them.
void rabenseifner(Comm& comm, Buffer data, ReduceOp op) {
  with_power_of_two(comm, data, op, [&](const PowerOfTwo& ranks) {
    const auto chunks = [&](int first, int count) {
      const auto from = chunk_of(data.count, ranks.count, first).first;
      const auto last = chunk_of(data.count, ranks.count, first + count - 1);
      return data.slice(from, last.first + last.count - from);
    };
    for (int half = ranks.count / 2; half > 0; half /= 2) {
      const int peer = ranks.mine ^ half;
      comm.next_step("reduce_scatter");
      comm.send_recv_reduce(ranks.real(peer), chunks(peer & -half, half),  //
                            ranks.real(peer), chunks(ranks.mine & -half, half), op);
    }
    for (int size = 1; size < ranks.count; size *= 2) {
      const int peer = ranks.mine ^ size;
      comm.next_step("all_gather");
      comm.send_recv(ranks.real(peer), chunks(ranks.mine & -size, size),  //
                     ranks.real(peer), chunks(peer & -size, size));
    }
  });
}

// Inside nodes, then across them, then inside again: each piece crosses once each way.
void hierarchical(Comm& comm, Buffer data, ReduceOp op) {
  const Hierarchy tiers(shape_of(comm, data.count));
  tiers.reduce_scatter_inside(comm, data, op);
  tiers.all_reduce_across(comm, data, op);
  tiers.all_gather_inside(comm, data);
}

// Every rank reads everyone's data and adds all of it, in rank order.
void one_shot(Comm& comm, Buffer data, ReduceOp op) {
  const Tensor sum = comm.scratch(data);
  const Buffer result = sum.buffer();
  comm.next_step("share");
  Shared all = comm.share(data);
  comm.reduce_all(all.views(), {&result, 1}, op);
  all.end();
  comm.copy(result, data);
}

// Rank c borrows chunk c of everyone, adds all in rank order, and gives the sum back to each.
void direct(Comm& comm, Buffer data, ReduceOp op) {
  const int me = comm.rank();
  const int p = comm.size();
  std::vector<Loan> lent;
  std::vector<Borrowed> borrowed;
  std::vector<Buffer> views(static_cast<std::size_t>(p), chunk(data, comm, me));
  lent.reserve(views.size());
  borrowed.reserve(views.size());
  comm.next_step("reduce_scatter");
  for (int k = 1; k < p; ++k) {
    lent.push_back(comm.lend((me + k) % p, chunk(data, comm, me + k)));
  }
  for (int k = 1; k < p; ++k) {
    const int from = (me + p - k) % p;
    borrowed.push_back(comm.borrow(from, chunk(data, comm, me)));
    views[static_cast<std::size_t>(from)] = borrowed.back().view();
  }
  comm.reduce_all(views, views, op);
  comm.next_step("all_gather");
  for (auto& chunk : borrowed) {
    chunk.give_back();
  }
  for (auto& chunk : lent) {
    chunk.wait();
  }
}

constexpr std::array algorithms{
    AllReduce{.name = "naive",
              .run = naive,
              .steps = [](const Shape& s) { return s.p > 1 ? 2 : 0; },
              .sent =
                  [](const Shape& s) {
                    return s.rank == 0 ? s.n * static_cast<std::size_t>(s.p - 1) : s.n;
                  },
              .paper = "by definition"},
    AllReduce{.name = "ring",
              .run = ring,
              .steps = [](const Shape& s) { return 2 * (s.p - 1); },
              .sent =
                  [](const Shape& s) {
                    return 2 * s.n - chunk_of(s.n, s.p, s.rank).count -
                           chunk_of(s.n, s.p, s.rank + 1).count;
                  },
              .paper = "Patarasuk and Yuan 2009, section 3"},
    AllReduce{.name = "recursive_doubling",
              .run = recursive_doubling,
              .steps = [](const Shape& s) { return power_of_two(s).steps_doubling(); },
              .sent = [](const Shape& s) { return power_of_two(s).sent_doubling(s); },
              .paper = "Thakur, Rabenseifner and Gropp 2005, section 4.5"},
    AllReduce{.name = "rabenseifner",
              .run = rabenseifner,
              .steps = [](const Shape& s) { return power_of_two(s).steps_halving(); },
              .sent = [](const Shape& s) { return power_of_two(s).sent_halving(s); },
              .paper = "Rabenseifner 2004, section 3"},
    AllReduce{.name = "hierarchical",
              .run = hierarchical,
              .steps = [](const Shape& s) { return Hierarchy(s).steps(); },
              .sent = [](const Shape& s) { return Hierarchy(s).sent(); },
              .paper = "Jia and others 2018, section 3.3; two-level rings of NCCL"},
    AllReduce{.name = "one_shot",
              .run = one_shot,
              .steps = [](const Shape& s) { return s.p > 1 ? 1 : 0; },
              .sent = [](const Shape& s) { return s.n * static_cast<std::size_t>(s.p - 1); },
              .paper = "by definition; one-shot kernels of TensorRT-LLM"},
    AllReduce{.name = "direct",
              .run = direct,
              .steps = [](const Shape& s) { return s.p > 1 ? 2 : 0; },
              .sent =
                  [](const Shape& s) {
                    const auto mine = chunk_of(s.n, s.p, s.rank).count;
                    return s.n - mine + mine * static_cast<std::size_t>(s.p - 1);
                  },
              .paper = "two-shot kernels of TensorRT-LLM"},
};

}  // namespace

std::span<const AllReduce> all_reduce_algorithms() {
  return algorithms;
}

namespace {

const AllReduce& row(const Comm& comm, Buffer data, Choice choice) {
  return pick(all_reduce_algorithms(), "all_reduce",
              chosen("all_reduce", choice.algorithm, comm, data.bytes()));
}

Work launch(Comm& comm, Buffer data, ReduceOp op, const AllReduce& algorithm,
            std::string_view label) {
  return comm.launch({.count = data.count,
                      .operation = std::string_view("all_reduce"),
                      .algorithm = algorithm.name,
                      .label = label,
                      .dtype = data.dtype,
                      .reduction = op},
                     [&] {
                       wide_average(comm, data, op, [&](Buffer wide) {
                         algorithm.run(comm, wide, op);
                         comm.finish_average(wide, op);
                       });
                     });
}

}  // namespace

void all_reduce(Comm& comm, Buffer data, ReduceOp op, Choice choice) {
  all_reduce(comm, row(comm, data, choice), data, op, choice.label);
}

void all_reduce(Comm& comm, const AllReduce& algorithm, Buffer data, ReduceOp op,
                std::string_view label) {
  launch(comm, data, op, algorithm, label).wait();
}

Work all_reduce_async(Comm& comm, const Tensor& data, ReduceOp op, Choice choice) {
  return all_reduce_async(comm, row(comm, data.buffer(), choice), data, op, choice.label);
}

Work all_reduce_async(Comm& comm, const AllReduce& algorithm, const Tensor& data, ReduceOp op,
                      std::string_view label) {
  Work work = launch(comm, data.buffer(), op, algorithm, label);
  work.holds(data, "all_reduce on group " + comm.name());
  return work;
}

}  // namespace ringside
