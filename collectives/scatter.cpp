// Scatter of n elements in all over p ranks. Plainest first, best last; add yours and a row below.
#include "collectives/scatter.hpp"

#include <array>

#include "collectives/chunk.hpp"
#include "collectives/tree.hpp"

namespace ringside {

namespace {

// The root sends each rank its chunk.
void linear(Comm& comm, Buffer data, int root) {
  comm.next_step("scatter");
  if (comm.rank() != root) {
    comm.recv(root, chunk(data, comm, comm.rank()));
    return;
  }
  for (int k = 1; k < comm.size(); ++k) {
    comm.send((root + k) % comm.size(), chunk(data, comm, root + k));
  }
}

constexpr std::array algorithms{
    Scatter{
        .name = "linear",
        .run = linear,
        .steps = [](const Shape& s) { return s.p > 1 ? 1 : 0; },
        .sent =
            [](const Shape& s) { return s.rank == 0 ? s.n - chunk_of(s.n, s.p, s.root).count : 0; },
        .paper = "by definition"},
};

}  // namespace

std::span<const Scatter> scatter_algorithms() {
  return algorithms;
}

void scatter(Comm& comm, Buffer data, int root, Choice choice) {
  const auto& algorithm = pick(scatter_algorithms(), "scatter",
                               chosen("scatter", choice.algorithm, comm, data.bytes()));
  check_root(comm, "scatter", root);
  comm.launch({.count = data.count,
               .operation = std::string_view("scatter"),
               .algorithm = algorithm.name,
               .label = choice.label,
               .root = root,
               .dtype = data.dtype},
              [&] { algorithm.run(comm, data, root); })
      .wait();
}

}  // namespace ringside
