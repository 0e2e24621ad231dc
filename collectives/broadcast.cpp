// Broadcast of n elements over p ranks. Plainest first, best last; add yours and a row below.
#include "collectives/broadcast.hpp"

#include <array>

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

constexpr std::array algorithms{
    Broadcast{.name = "linear",
              .run = linear,
              .steps = [](int p) { return p > 1 ? 1 : 0; },
              .sent = [](int p, std::size_t n,
                         int rank) { return rank == 0 ? n * static_cast<std::size_t>(p - 1) : 0; },
              .paper = "by definition"},
};

}  // namespace

std::span<const Broadcast> broadcast_algorithms() {
  return algorithms;
}

void broadcast(Comm& comm, Buffer data, int root, Choice choice) {
  const auto& algorithm = pick(broadcast_algorithms(), "broadcast", choice.algorithm);
  if (root < 0 || root >= comm.size()) {
    throw BadUse("broadcast on group " + comm.name() + ": there is no rank " +
                 std::to_string(root) + " among " + std::to_string(comm.size()));
  }
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
