// All-gather of n elements in all over p ranks. Plainest first, best last; add yours and a row
// below.
#include "collectives/all_gather.hpp"

#include <array>

#include "collectives/chunk.hpp"

namespace ringside {

namespace {

// Every chunk travels once round the ring.
void ring(Comm& comm, Buffer data) {
  const int me = comm.rank();
  for (int step = 0; step < comm.size() - 1; ++step) {
    comm.next_step("all_gather");
    comm.send_recv(comm.next(), chunk(data, comm, me - step),  //
                   comm.prev(), chunk(data, comm, me - step - 1));
  }
}

constexpr std::array algorithms{
    AllGather{
        .name = "ring",
        .run = ring,
        .steps = [](int p) { return p - 1; },
        .sent = [](int p, std::size_t n, int rank) { return n - chunk_of(n, p, rank + 1).count; },
        .paper = "Patarasuk and Yuan 2009, section 3"},
};

}  // namespace

std::span<const AllGather> all_gather_algorithms() {
  return algorithms;
}

void all_gather(Comm& comm, Buffer data, Choice choice) {
  const auto& algorithm = pick(all_gather_algorithms(), "all_gather", choice.algorithm);
  comm.launch({.count = data.count,
               .operation = std::string_view("all_gather"),
               .algorithm = algorithm.name,
               .label = choice.label,
               .dtype = data.dtype},
              [&] { algorithm.run(comm, data); })
      .wait();
}

void all_gather(Comm& comm, Buffer mine, Buffer all, Choice choice) {
  comm.copy(mine, chunk(all, comm, comm.rank()));
  all_gather(comm, all, choice);
}

}  // namespace ringside
