// Reduce-scatter of n elements over p ranks. Plainest first, best last; add yours and a row below.
#include "collectives/reduce_scatter.hpp"

#include <array>
#include <vector>

#include "collectives/chunk.hpp"
#include "runtime/reduce.hpp"

namespace ringside {

namespace {

// Chunk c starts on rank c+1, travels once round the ring, and ends, fully reduced, on rank c.
void ring(Comm& comm, Buffer data, ReduceOp op) {
  const int me = comm.rank();
  for (int step = 0; step < comm.size() - 1; ++step) {
    comm.next_step("reduce_scatter");
    comm.send_recv_reduce(comm.next(), chunk(data, comm, me - step - 1),  //
                          comm.prev(), chunk(data, comm, me - step - 2), op);
  }
}

constexpr std::array algorithms{
    ReduceScatter{
        .name = "ring",
        .run = ring,
        .steps = [](int p) { return p - 1; },
        .sent = [](int p, std::size_t n, int rank) { return n - chunk_of(n, p, rank).count; },
        .paper = "Patarasuk and Yuan 2009, section 3"},
};

}  // namespace

std::span<const ReduceScatter> reduce_scatter_algorithms() {
  return algorithms;
}

void reduce_scatter(Comm& comm, Buffer data, ReduceOp op, Choice choice) {
  const auto& algorithm = pick(reduce_scatter_algorithms(), "reduce_scatter", choice.algorithm);
  comm.launch({.count = data.count,
               .operation = std::string_view("reduce_scatter"),
               .algorithm = algorithm.name,
               .label = choice.label,
               .dtype = data.dtype,
               .reduction = op},
              [&] {
                algorithm.run(comm, data, op);
                finish_average(chunk(data, comm, comm.rank()), op, comm.size());
              })
      .wait();
}

void reduce_scatter(Comm& comm, Buffer data, Buffer mine, ReduceOp op, Choice choice) {
  std::vector<std::byte> scratch(data.data, data.data + data.bytes());
  const Buffer whole{scratch.data(), data.count, data.dtype};
  reduce_scatter(comm, whole, op, choice);
  comm.copy(chunk(whole, comm, comm.rank()), mine);
}

}  // namespace ringside
