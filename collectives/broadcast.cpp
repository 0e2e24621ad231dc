// Broadcast of n elements over p ranks. Plainest first, best last; add yours and a row below.
#include "collectives/broadcast.hpp"

#include <array>

#include "collectives/tree.hpp"

namespace ringside {

namespace {

// The root sends to each rank in turn.
void linear(Comm& comm, Buffer data, int root) {
  comm.next_step("broadcast");
  if (comm.rank() != root) {
    comm.recv(root, data);
    return;
  }
  for (int k = 1; k < comm.size(); ++k) {
    comm.send((root + k) % comm.size(), data);
  }
}

// Whoever has the data passes it on: twice as many ranks have it after every step.
void binomial_tree(Comm& comm, Buffer data, int root) {
  const Tree tree(shape_of(comm, data.count, root));
  const auto real = [&](int from_root) { return (root + from_root) % comm.size(); };
  comm.next_step("broadcast");
  if (tree.parent() >= 0) {
    comm.recv(real(tree.parent()), data);
  }
  for (const int child : tree.children()) {
    comm.send(real(child), data);
  }
}

constexpr std::array algorithms{
    Broadcast{.name = "linear",
              .run = linear,
              .steps = [](const Shape& s) { return s.p > 1 ? 1 : 0; },
              .sent =
                  [](const Shape& s) {
                    return s.rank == 0 ? s.n * static_cast<std::size_t>(s.p - 1) : 0;
                  },
              .paper = "by definition"},
    Broadcast{.name = "binomial_tree",
              .run = binomial_tree,
              .steps = [](const Shape& s) { return Tree::depth(s.p); },
              .sent = [](const Shape& s) { return s.n * Tree(s).children().size(); },
              .paper = "Thakur, Rabenseifner and Gropp 2005, section 4.4"},
};

}  // namespace

std::span<const Broadcast> broadcast_algorithms() {
  return algorithms;
}

void broadcast(Comm& comm, Buffer data, int root, Choice choice) {
  const auto& algorithm = pick(broadcast_algorithms(), "broadcast",
                               chosen("broadcast", choice.algorithm, comm, data.bytes()));
  check_root(comm, "broadcast", root);
  comm.launch({.count = data.count,
               .operation = std::string_view("broadcast"),
               .algorithm = algorithm.name,
               .label = choice.label,
               .root = root,
               .dtype = data.dtype},
              [&] { algorithm.run(comm, data, root); })
      .wait();
}

}  // namespace ringside
