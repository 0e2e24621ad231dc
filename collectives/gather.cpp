// Gather of n elements in all over p ranks. Plainest first, best last; add yours and a row below.
#include "collectives/gather.hpp"

#include <array>

#include "collectives/chunk.hpp"
#include "collectives/tree.hpp"

namespace ringside {

namespace {

// Every rank sends its chunk to the root.
void linear(Comm& comm, Buffer data, int root) {
  comm.next_step("gather");
  if (comm.rank() != root) {
    comm.send(root, chunk(data, comm, comm.rank()));
    return;
  }
  for (int k = 1; k < comm.size(); ++k) {
    comm.recv((root + k) % comm.size(), chunk(data, comm, root + k));
  }
}

constexpr std::array algorithms{
    Gather{.name = "linear",
           .run = linear,
           .steps = [](const Shape& s) { return s.p > 1 ? 1 : 0; },
           .sent =
               [](const Shape& s) {
                 return s.rank == 0 ? 0 : chunk_of(s.n, s.p, s.rank + s.root).count;
               },
           .paper = "by definition"},
};

}  // namespace

std::span<const Gather> gather_algorithms() {
  return algorithms;
}

void gather(Comm& comm, Buffer data, int root, Choice choice) {
  const auto& algorithm =
      pick(gather_algorithms(), "gather", chosen("gather", choice.algorithm, comm, data.bytes()));
  check_root(comm, "gather", root);
  comm.launch({.count = data.count,
               .operation = std::string_view("gather"),
               .algorithm = algorithm.name,
               .label = choice.label,
               .root = root,
               .dtype = data.dtype},
              [&] { algorithm.run(comm, data, root); })
      .wait();
}

}  // namespace ringside
