#include "tests/support/planted_all_reduces.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "collectives/chunk.hpp"

namespace ringside {

namespace {

// The ring with screws that can be turned the wrong way; as it stands, the right one.
struct Ring {
  int reduce_shift = 0;
  int gather_shift = 0;
  int reduce_skips = -1;  // a step
  int gather_skips = -1;
  bool gather_backwards = false;
  bool reduce_copies = false;
  bool gather_adds = false;
  int only_copies = -1;  // a rank that overwrites instead of adding
  int adds_twice = -1;   // a rank that adds twice in step 1
  int sends_stale = -1;  // a rank that gathers what it had before
  int forgets = -1;      // a rank whose gathered chunk of step 0 is dropped

  void run(Comm& comm, Buffer data, ReduceOp op) const {
    const Tensor before = comm.scratch(data);
    comm.copy(data, before.buffer());
    for (int step = 0; step < comm.size() - 1; ++step) {
      if (step != reduce_skips) {
        comm.next_step("reduce_scatter");
        reduce(comm, data, op, step);
      }
    }
    for (int step = 0; step < comm.size() - 1; ++step) {
      if (step != gather_skips) {
        comm.next_step("all_gather");
        gather(comm, data, before.buffer(), op, step);
      }
    }
  }

  void reduce(Comm& comm, Buffer data, ReduceOp op, int step) const {
    const int me = comm.rank() + reduce_shift;
    const Buffer out = chunk(data, comm, me - step - 1);
    const Buffer in = chunk(data, comm, me - step - 2);
    const Tensor came = comm.scratch(in);
    comm.send_recv(comm.next(), out, comm.prev(), came.buffer());
    if (reduce_copies || comm.rank() == only_copies) {
      comm.copy(came.buffer(), in);
    } else {
      comm.reduce(came.buffer(), in, op);
    }
    if (comm.rank() == adds_twice && step == 1) {
      comm.reduce(came.buffer(), in, op);
    }
  }

  void gather(Comm& comm, Buffer data, Buffer before, ReduceOp op, int step) const {
    const int me = comm.rank() + gather_shift;
    const int to = gather_backwards ? comm.prev() : comm.next();
    const int from = gather_backwards ? comm.next() : comm.prev();
    const Buffer out =
        chunk(comm.rank() == sends_stale && step == 0 ? before : data, comm, me - step);
    const Buffer in = chunk(data, comm, me - step - 1);
    const Tensor dropped = comm.scratch(in);
    if (gather_adds) {
      comm.send_recv_reduce(to, out, from, in, op);
    } else {
      const bool drops = comm.rank() == forgets && step == 0;
      comm.send_recv(to, out, from, drops ? dropped.buffer() : in);
    }
  }
};

template <Ring screws>
void ring(Comm& comm, Buffer data, ReduceOp op) {
  screws.run(comm, data, op);
}

void ring_tail_lost(Comm& comm, Buffer data, ReduceOp op) {
  const auto p = static_cast<std::size_t>(comm.size());
  Ring{}.run(comm, data.slice(0, data.count / p * p), op);
}

// Sends are not waited for: the buffer that they read is filled again meanwhile. The tokens make
// sure that it is, before the neighbour looks.
void ring_buffer_reused_early(Comm& comm, Buffer data, ReduceOp op) {
  const int me = comm.rank();
  const int p = comm.size();
  const Tensor buffer = comm.scratch(chunk(data, comm, 0));
  for (int step = 0; step < p - 1; ++step) {
    comm.next_step("reduce_scatter");
    const Buffer out = chunk(data, comm, me - step - 1);
    const Buffer in = chunk(data, comm, me - step - 2);
    comm.copy(out, buffer.buffer().slice(0, out.count));
    Request sending = comm.isend(comm.next(), buffer.buffer().slice(0, out.count));
    comm.copy(chunk(data, comm, me).slice(0, std::min(chunk(data, comm, me).count, out.count)),
              buffer.buffer().slice(0, std::min(chunk(data, comm, me).count, out.count)));
    comm.send_recv((me + 2) % p, {}, (me + p - 2) % p, {});
    comm.send_recv(comm.prev(), {}, comm.next(), {});
    comm.recv_reduce(comm.prev(), in, op);
    sending.wait();
  }
  for (int step = 0; step < p - 1; ++step) {
    comm.next_step("all_gather");
    comm.send_recv(comm.next(), chunk(data, comm, me - step), comm.prev(),
                   chunk(data, comm, me - step - 1));
  }
}

void ring_blocking_sends(Comm& comm, Buffer data, ReduceOp op) {
  const int me = comm.rank();
  for (int step = 0; step < comm.size() - 1; ++step) {
    comm.next_step("reduce_scatter");
    comm.send(comm.next(), chunk(data, comm, me - step - 1));
    comm.recv_reduce(comm.prev(), chunk(data, comm, me - step - 2), op);
  }
  for (int step = 0; step < comm.size() - 1; ++step) {
    comm.next_step("all_gather");
    comm.send(comm.next(), chunk(data, comm, me - step));
    comm.recv(comm.prev(), chunk(data, comm, me - step - 1));
  }
}

void ring_divides_a_sum(Comm& comm, Buffer data, ReduceOp op) {
  Ring{}.run(comm, data, op);
  comm.finish_average(data, ReduceOp::avg);
}

void naive_last_rank_left_out(Comm& comm, Buffer data, ReduceOp op) {
  comm.next_step("gather");
  const Tensor dropped = comm.scratch(data);
  for (int r = 1; r < comm.size() && comm.rank() == 0; ++r) {
    r < comm.size() - 1 ? comm.recv_reduce(r, data, op) : comm.recv(r, dropped.buffer());
  }
  if (comm.rank() != 0) {
    comm.send(0, data);
  }
  comm.next_step("broadcast");
  for (int r = 1; r < comm.size() && comm.rank() == 0; ++r) {
    comm.send(r, data);
  }
  if (comm.rank() != 0) {
    comm.recv(0, data);
  }
}

// Rank 1 is told before the last part has been added.
void naive_told_too_early(Comm& comm, Buffer data, ReduceOp op) {
  comm.next_step("gather");
  if (comm.rank() == 0) {
    for (int r = 1; r < comm.size(); ++r) {
      if (r == comm.size() - 1) {
        comm.next_step("broadcast");
        comm.send(1, data);
      }
      comm.recv_reduce(r, data, op);
    }
    for (int r = 2; r < comm.size(); ++r) {
      comm.send(r, data);
    }
  } else {
    comm.send(0, data);
    comm.next_step("broadcast");
    comm.recv(0, data);
  }
}

// Of a power of two of ranks; the distance stays 1.
void distance_not_doubled(Comm& comm, Buffer data, ReduceOp op) {
  for (int distance = 1; distance < comm.size(); distance *= 2) {
    const int peer = comm.rank() ^ 1;
    comm.next_step("exchange");
    comm.send_recv_reduce(peer, data, peer, data, op);
  }
}

// Every rank begins with its own part: other bits on every rank.
void one_shot_own_part_first(Comm& comm, Buffer data, ReduceOp op) {
  const Tensor sum = comm.scratch(data);
  const Buffer result = sum.buffer();
  comm.next_step("share");
  Shared all = comm.share(data);
  auto views = all.views();
  std::rotate(views.begin(), views.begin() + comm.rank(), views.end());
  comm.reduce_all(views, {&result, 1}, op);
  all.end();
  comm.copy(result, data);
}

void one_shot_reads_neighbour_twice(Comm& comm, Buffer data, ReduceOp op) {
  const Tensor sum = comm.scratch(data);
  const Buffer result = sum.buffer();
  comm.next_step("share");
  Shared all = comm.share(data);
  auto views = all.views();
  views[static_cast<std::size_t>(comm.prev())] = views[static_cast<std::size_t>(comm.next())];
  comm.reduce_all(views, {&result, 1}, op);
  all.end();
  comm.copy(result, data);
}

// Lends the chunk after the one that the peer adds up.
void direct_lends_next_chunk(Comm& comm, Buffer data, ReduceOp op) {
  const int me = comm.rank();
  const int p = comm.size();
  std::vector<Loan> lent;
  std::vector<Borrowed> borrowed;
  std::vector<Buffer> views{chunk(data, comm, me)};
  comm.next_step("reduce_scatter");
  for (int k = 1; k < p; ++k) {
    lent.push_back(comm.lend((me + k) % p, chunk(data, comm, me + k + 1)));
  }
  for (int k = 1; k < p; ++k) {
    borrowed.push_back(comm.borrow((me + p - k) % p, chunk(data, comm, me + 1)));
    views.push_back(borrowed.back().view());
  }
  comm.reduce_all(views, views, op);
  for (auto& piece : borrowed) {
    piece.give_back();
  }
  for (auto& piece : lent) {
    piece.wait();
  }
}

constexpr AllReduce planted(std::string_view name, void (*run)(Comm&, Buffer, ReduceOp)) {
  return {.name = name,
          .run = run,
          .steps = [](const Shape&) { return 0; },
          .sent = [](const Shape&) { return std::size_t{0}; },
          .paper = "planted"};
}

constexpr std::array table{
    planted("reduce_chunk_off_by_one", ring<Ring{.reduce_shift = 1}>),
    planted("gather_chunk_off_by_one", ring<Ring{.gather_shift = 1}>),
    planted("reduce_first_step_skipped", ring<Ring{.reduce_skips = 0}>),
    planted("reduce_last_step_skipped", ring<Ring{.reduce_skips = 2}>),
    planted("gather_step_skipped", ring<Ring{.gather_skips = 1}>),
    planted("gather_last_step_skipped", ring<Ring{.gather_skips = 2}>),
    planted("gather_wrong_direction", ring<Ring{.gather_backwards = true}>),
    planted("added_twice", ring<Ring{.adds_twice = 2}>),
    planted("gather_adds", ring<Ring{.gather_adds = true}>),
    planted("reduce_copies", ring<Ring{.reduce_copies = true}>),
    planted("one_rank_copies", ring<Ring{.only_copies = 2}>),
    planted("stale_chunk", ring<Ring{.sends_stale = 1}>),
    planted("chunk_dropped", ring<Ring{.forgets = 3}>),
    planted("tail_lost", ring_tail_lost),
    planted("buffer_reused_early", ring_buffer_reused_early),
    planted("blocking_sends", ring_blocking_sends),
    planted("divides_a_sum", ring_divides_a_sum),
    planted("last_rank_left_out", naive_last_rank_left_out),
    planted("told_too_early", naive_told_too_early),
    planted("distance_not_doubled", distance_not_doubled),
    planted("own_part_first", one_shot_own_part_first),
    planted("neighbour_twice", one_shot_reads_neighbour_twice),
    planted("next_chunk_lent", direct_lends_next_chunk),
};

}  // namespace

std::span<const AllReduce> planted_all_reduces() {
  return table;
}

}  // namespace ringside
