// Reduce of n elements over p ranks. Plainest first, best last; add yours and a row below.
#include "collectives/reduce.hpp"

#include <array>

#include "collectives/tree.hpp"
#include "collectives/wide_average.hpp"

namespace ringside {

namespace {

// The root adds everyone's data to its own, in the order of the ranks after it.
void linear(Comm& comm, Buffer data, ReduceOp op, int root) {
  comm.next_step("reduce");
  if (comm.rank() != root) {
    comm.send(root, data);
    return;
  }
  for (int k = 1; k < comm.size(); ++k) {
    comm.recv_reduce((root + k) % comm.size(), data, op);
  }
}

// The broadcast's tree, the other way: nearest children first, and the sums in a copy.
void binomial_tree(Comm& comm, Buffer data, ReduceOp op, int root) {
  const Tree tree(shape_of(comm, data.count, root));
  const auto real = [&](int from_root) { return (root + from_root) % comm.size(); };
  const bool inner = tree.parent() >= 0 && !tree.children().empty();
  const Tensor copy = inner ? comm.scratch(data) : Tensor();
  const Buffer sum = inner ? copy.buffer() : data;
  if (inner) {
    comm.copy(data, sum);
  }
  comm.next_step("reduce");
  for (auto child = tree.children().rbegin(); child != tree.children().rend(); ++child) {
    comm.recv_reduce(real(*child), sum, op);
  }
  if (tree.parent() >= 0) {
    comm.send(real(tree.parent()), sum);
  }
}

constexpr auto all_but_root = [](const Shape& s) { return s.rank == 0 ? 0 : s.n; };

constexpr std::array algorithms{
    Reduce{.name = "linear",
           .run = linear,
           .steps = [](const Shape& s) { return s.p > 1 ? 1 : 0; },
           .sent = all_but_root,
           .paper = "by definition"},
    Reduce{.name = "binomial_tree",
           .run = binomial_tree,
           .steps = [](const Shape& s) { return Tree::depth(s.p); },
           .sent = all_but_root,
           .paper = "Thakur, Rabenseifner and Gropp 2005, section 4.4"},
};

}  // namespace

std::span<const Reduce> reduce_algorithms() {
  return algorithms;
}

void reduce(Comm& comm, Buffer data, ReduceOp op, int root, Choice choice) {
  const auto& algorithm =
      pick(reduce_algorithms(), "reduce", chosen("reduce", choice.algorithm, comm, data.bytes()));
  check_root(comm, "reduce", root);
  comm.launch({.count = data.count,
               .operation = std::string_view("reduce"),
               .algorithm = algorithm.name,
               .label = choice.label,
               .root = root,
               .dtype = data.dtype,
               .reduction = op},
              [&] {
                wide_average(comm, data, op, [&](Buffer wide) {
                  algorithm.run(comm, wide, op, root);
                  if (comm.rank() == root) {
                    comm.finish_average(wide, op);
                  }
                });
              })
      .wait();
}

}  // namespace ringside
