// Barrier over p ranks. Plainest first, best last; add yours and a row below.
#include "collectives/barrier.hpp"

#include <array>
#include <bit>

namespace ringside {

namespace {

// In step k every rank tells the 2^k-th after it what it has heard so far.
void dissemination(Comm& comm) {
  const int me = comm.rank();
  const int p = comm.size();
  for (int distance = 1; distance < p; distance *= 2) {
    comm.next_step("signal");
    comm.send_recv((me + distance) % p, {}, (me + p - distance) % p, {});
  }
}

constexpr std::array algorithms{
    Barrier{.name = "dissemination",
            .run = dissemination,
            .steps =
                [](const Shape& s) {
                  return static_cast<int>(std::bit_width(static_cast<unsigned>(s.p - 1)));
                },
            .sent = [](const Shape&) { return std::size_t{0}; },
            .paper = "Hensgen, Finkel and Manber 1988"},
};

}  // namespace

std::span<const Barrier> barrier_algorithms() {
  return algorithms;
}

void barrier(Comm& comm, Choice choice) {
  const auto& algorithm =
      pick(barrier_algorithms(), "barrier", chosen("barrier", choice.algorithm, comm, 0));
  comm.launch({.operation = std::string_view("barrier"),
               .algorithm = algorithm.name,
               .label = choice.label},
              [&] { algorithm.run(comm); })
      .wait();
}

}  // namespace ringside
