// All-to-all of n elements a rank over p ranks. Plainest first, best last; add yours and a row
// below.
#include "collectives/all_to_all.hpp"

#include <array>

#include "collectives/chunk.hpp"

namespace ringside {

namespace {

// In step k every rank sends to the k-th rank after it and hears from the k-th before it.
void pairwise(Comm& comm, Buffer in, Buffer out) {
  const int me = comm.rank();
  const int p = comm.size();
  comm.copy(chunk(in, comm, me), chunk(out, comm, me));
  for (int k = 1; k < p; ++k) {
    comm.next_step("exchange");
    comm.send_recv((me + k) % p, chunk(in, comm, me + k),  //
                   (me + p - k) % p, chunk(out, comm, me - k));
  }
}

constexpr std::array algorithms{
    AllToAll{.name = "pairwise",
             .run = pairwise,
             .steps = [](int p) { return p - 1; },
             .sent = [](int p, std::size_t n, int rank) { return n - chunk_of(n, p, rank).count; },
             .paper = "Thakur, Rabenseifner and Gropp 2005, section 4.3"},
};

}  // namespace

std::span<const AllToAll> all_to_all_algorithms() {
  return algorithms;
}

void all_to_all(Comm& comm, Buffer in, Buffer out, Choice choice) {
  const auto& algorithm = pick(all_to_all_algorithms(), "all_to_all", choice.algorithm);
  if (in.count != out.count || in.count % static_cast<std::size_t>(comm.size()) != 0) {
    throw BadUse("all_to_all on group " + comm.name() + ": " + std::to_string(in.count) +
                 " elements in and " + std::to_string(out.count) +
                 " out must be equal and divisible by the group's " + std::to_string(comm.size()) +
                 " ranks");
  }
  comm.launch({.count = in.count,
               .operation = std::string_view("all_to_all"),
               .algorithm = algorithm.name,
               .label = choice.label,
               .dtype = in.dtype},
              [&] { algorithm.run(comm, in, out); })
      .wait();
}

}  // namespace ringside
