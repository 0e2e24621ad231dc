// All-reduce of n elements over p ranks. Plainest first, best last; add yours and a row below.
#include "collectives/all_reduce.hpp"

#include <array>

#include "collectives/chunk.hpp"
#include "runtime/reduce.hpp"

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

constexpr std::array algorithms{
    AllReduce{.name = "naive",
              .run = naive,
              .steps = [](int p) { return p > 1 ? 2 : 0; },
              .sent = [](int p, std::size_t n,
                         int rank) { return rank == 0 ? n * static_cast<std::size_t>(p - 1) : n; },
              .paper = "by definition"},
    AllReduce{.name = "ring",
              .run = ring,
              .steps = [](int p) { return 2 * (p - 1); },
              .sent =
                  [](int p, std::size_t n, int rank) {
                    return 2 * n - chunk_of(n, p, rank).count - chunk_of(n, p, rank + 1).count;
                  },
              .paper = "Patarasuk and Yuan 2009, section 3"},
};

}  // namespace

std::span<const AllReduce> all_reduce_algorithms() {
  return algorithms;
}

namespace {

Work launch(Comm& comm, Buffer data, ReduceOp op, Choice choice) {
  const auto& algorithm = pick(all_reduce_algorithms(), "all_reduce", choice.algorithm);
  return comm.launch({.count = data.count,
                      .operation = std::string_view("all_reduce"),
                      .algorithm = algorithm.name,
                      .label = choice.label,
                      .dtype = data.dtype,
                      .reduction = op},
                     [&] {
                       algorithm.run(comm, data, op);
                       finish_average(data, op, comm.size());
                     });
}

}  // namespace

void all_reduce(Comm& comm, Buffer data, ReduceOp op, Choice choice) {
  launch(comm, data, op, choice).wait();
}

Work all_reduce_async(Comm& comm, const Tensor& data, ReduceOp op, Choice choice) {
  Work work = launch(comm, data.buffer(), op, choice);
  work.holds(data, "all_reduce on group " + comm.name());
  return work;
}

}  // namespace ringside
