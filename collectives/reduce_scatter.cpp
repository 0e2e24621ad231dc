// Reduce-scatter of n elements over p ranks. Plainest first, best last; add yours and a row below.
#include "collectives/reduce_scatter.hpp"

#include <array>
#include <vector>

#include "collectives/chunk.hpp"
#include "collectives/wide_average.hpp"

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

// Every rank gets everyone's share of its chunk, and adds all in rank order.
void direct(Comm& comm, Buffer data, ReduceOp op) {
  const int me = comm.rank();
  const int p = comm.size();
  const Buffer mine = chunk(data, comm, me);
  std::vector<Request> sends;
  std::vector<Borrowed> borrowed;
  std::vector<Buffer> views(static_cast<std::size_t>(p), mine);
  comm.next_step("reduce_scatter");
  for (int k = 1; k < p; ++k) {
    sends.push_back(comm.isend((me + k) % p, chunk(data, comm, me + k)));
  }
  for (int k = 1; k < p; ++k) {
    const int from = (me + p - k) % p;
    borrowed.push_back(comm.borrow(from, mine));
    views[static_cast<std::size_t>(from)] = borrowed.back().view();
  }
  comm.reduce_all(views, {&mine, 1}, op);
  borrowed.clear();
  for (auto& send : sends) {
    send.wait();
  }
}

constexpr std::array algorithms{
    ReduceScatter{.name = "ring",
                  .run = ring,
                  .steps = [](const Shape& s) { return s.p - 1; },
                  .sent = [](const Shape& s) { return s.n - chunk_of(s.n, s.p, s.rank).count; },
                  .paper = "Patarasuk and Yuan 2009, section 3"},
    ReduceScatter{.name = "direct",
                  .run = direct,
                  .steps = [](const Shape& s) { return s.p > 1 ? 1 : 0; },
                  .sent = [](const Shape& s) { return s.n - chunk_of(s.n, s.p, s.rank).count; },
                  .paper = "by definition"},
};

}  // namespace

std::span<const ReduceScatter> reduce_scatter_algorithms() {
  return algorithms;
}

namespace {

Work launch(Comm& comm, Buffer data, ReduceOp op, Choice choice) {
  const auto& algorithm = pick(reduce_scatter_algorithms(), "reduce_scatter",
                               chosen("reduce_scatter", choice.algorithm, comm, data.bytes()));
  return comm.launch({.count = data.count,
                      .operation = std::string_view("reduce_scatter"),
                      .algorithm = algorithm.name,
                      .label = choice.label,
                      .dtype = data.dtype,
                      .reduction = op},
                     [&] {
                       wide_average(comm, data, op, [&](Buffer wide) {
                         algorithm.run(comm, wide, op);
                         comm.finish_average(chunk(wide, comm, comm.rank()), op);
                       });
                     });
}

}  // namespace

void reduce_scatter(Comm& comm, Buffer data, ReduceOp op, Choice choice) {
  launch(comm, data, op, choice).wait();
}

Work reduce_scatter_async(Comm& comm, const Tensor& data, ReduceOp op, Choice choice) {
  Work work = launch(comm, data.buffer(), op, choice);
  work.holds(data, "reduce_scatter on group " + comm.name());
  return work;
}

void reduce_scatter(Comm& comm, Buffer data, Buffer mine, ReduceOp op, Choice choice) {
  const Tensor scratch = comm.scratch(data);
  const Buffer whole = scratch.buffer();
  comm.copy(data, whole);
  reduce_scatter(comm, whole, op, choice);
  comm.copy(chunk(whole, comm, comm.rank()), mine);
}

}  // namespace ringside
