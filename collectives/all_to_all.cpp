// All-to-all over p ranks, in equal and in unequal parts. Plainest first, best last; add yours and
// a row below.
#include "collectives/all_to_all.hpp"

#include <array>

#include "collectives/chunk.hpp"
#include "collectives/forwarding.hpp"

namespace ringside {

namespace {

// In step k every rank sends to the k-th rank after it and hears from the k-th before it.
void pairwise(Comm& comm, const Parts& in, const Parts& out) {
  const int me = comm.rank();
  const int p = comm.size();
  comm.copy(in[me], out[me]);
  for (int k = 1; k < p; ++k) {
    comm.next_step("exchange");
    comm.send_recv((me + k) % p, in[(me + k) % p], (me + p - k) % p, out[(me + p - k) % p]);
  }
}

// One message from each rank to each node that it is not in, which is then forwarded there.
void hierarchical(Comm& comm, const Parts& in, const Parts& out) {
  Forwarding forwarding(comm, in, out);
  forwarding.send_across();
  forwarding.exchange_inside();
  forwarding.forward();
}

// All at once.
void direct(Comm& comm, const Parts& in, const Parts& out) {
  const int me = comm.rank();
  const int p = comm.size();
  std::vector<Request> sends;
  comm.next_step("exchange");
  comm.copy(in[me], out[me]);
  for (int k = 1; k < p; ++k) {
    sends.push_back(comm.isend((me + k) % p, in[(me + k) % p]));
  }
  for (int k = 1; k < p; ++k) {
    comm.recv((me + p - k) % p, out[(me + p - k) % p]);
  }
  for (auto& send : sends) {
    send.wait();
  }
}

// Of equal parts.
std::size_t all_but_one(const Shape& s) {
  return s.n - chunk_of(s.n, s.p, s.rank).count;
}

constexpr std::array algorithms{
    AllToAll{.name = "pairwise",
             .run = pairwise,
             .steps = [](const Shape& s) { return s.p - 1; },
             .sent = all_but_one,
             .paper = "Thakur, Rabenseifner and Gropp 2005, section 4.3"},
    AllToAll{.name = "hierarchical",
             .run = hierarchical,
             .steps = [](const Shape& s) { return Forwarding::steps(s); },
             .sent = [](const Shape& s) { return Forwarding::sent(s); },
             .paper = "DeepEP; Shazeer and others 2017"},
    AllToAll{.name = "direct",
             .run = direct,
             .steps = [](const Shape& s) { return s.p > 1 ? 1 : 0; },
             .sent = all_but_one,
             .paper = "by definition"},
};

std::string who(const Comm& comm, std::string_view operation) {
  return std::string(operation) + " on group " + comm.name();
}

bool overlap(Buffer a, Buffer b) {
  return !a.meta() && !b.meta() && a.count > 0 && b.count > 0 && a.data < b.data + b.bytes() &&
         b.data < a.data + a.bytes();
}

Work launch(Comm& comm, const Parts& in, const Parts& out, std::string_view operation,
            std::uint64_t count, Choice choice) {
  // By what is equal on all members: the size of an unequal exchange is not.
  const std::size_t bytes = count * size_of(in.all().dtype);
  const auto& algorithm = pick(all_to_all_algorithms(), "all_to_all",
                               chosen("all_to_all", choice.algorithm, comm, bytes));
  if (in.all().dtype != out.all().dtype) {
    throw BadUse(who(comm, operation) + ": the input is of " +
                 std::string(name_of(in.all().dtype)) + " and the output of " +
                 std::string(name_of(out.all().dtype)));
  }
  if (overlap(in.all(), out.all())) {
    throw BadUse(who(comm, operation) +
                 ": the input and the output share memory; give it two buffers");
  }
  return comm.launch({.count = count,
                      .operation = operation,
                      .algorithm = algorithm.name,
                      .label = choice.label,
                      .dtype = in.all().dtype},
                     [&] { algorithm.run(comm, in, out); });
}

// The counts differ from rank to rank, so the signature, which is equal on all, names none.
Work launch_v(Comm& comm, Buffer in, std::span<const std::size_t> send_counts, Buffer out,
              std::span<const std::size_t> receive_counts, Choice choice) {
  const std::string name = who(comm, "all_to_all_v");
  for (const auto counts : {send_counts, receive_counts}) {
    if (counts.size() != static_cast<std::size_t>(comm.size())) {
      throw BadUse(name + ": " + std::to_string(counts.size()) + " counts for " +
                   std::to_string(comm.size()) + " ranks");
    }
  }
  const auto me = static_cast<std::size_t>(comm.rank());
  if (send_counts[me] != receive_counts[me]) {
    throw BadUse(name + ": rank " + std::to_string(comm.owner().id()) + " sends itself " +
                 std::to_string(send_counts[me]) + " elements and expects " +
                 std::to_string(receive_counts[me]));
  }
  return launch(comm, Parts(in, send_counts, name + ", send counts"),
                Parts(out, receive_counts, name + ", receive counts"), "all_to_all_v", 0, choice);
}

}  // namespace

std::span<const AllToAll> all_to_all_algorithms() {
  return algorithms;
}

void all_to_all(Comm& comm, Buffer in, Buffer out, Choice choice) {
  if (in.count != out.count) {
    throw BadUse(who(comm, "all_to_all") + ": " + std::to_string(in.count) + " elements in and " +
                 std::to_string(out.count) + " out must be as many");
  }
  launch(comm, Parts::equal(in, comm.size(), who(comm, "all_to_all")),
         Parts::equal(out, comm.size(), who(comm, "all_to_all")), "all_to_all", in.count, choice)
      .wait();
}

void all_to_all_v(Comm& comm, Buffer in, std::span<const std::size_t> send_counts, Buffer out,
                  std::span<const std::size_t> receive_counts, Choice choice) {
  launch_v(comm, in, send_counts, out, receive_counts, choice).wait();
}

Work all_to_all_v_async(Comm& comm, const Tensor& in, std::span<const std::size_t> send_counts,
                        const Tensor& out, std::span<const std::size_t> receive_counts,
                        Choice choice) {
  Work work = launch_v(comm, in.buffer(), send_counts, out.buffer(), receive_counts, choice);
  work.holds(out, "all_to_all_v on group " + comm.name());
  return work;
}

}  // namespace ringside
