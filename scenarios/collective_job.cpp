#include "scenarios/collective_job.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "collectives/barrier.hpp"
#include "collectives/chunk.hpp"
#include "runtime/errors.hpp"
#include "runtime/launch.hpp"
#include "runtime/process.hpp"
#include "runtime/tensor.hpp"
#include "scenarios/known_numbers.hpp"
#include "scenarios/modelled_clocks.hpp"

namespace ringside {
namespace {

// What one rank saw of one placement of one case; plain, so that it travels as it is.
struct Sample {
  Time modelled{0};
  std::int64_t sent = 0;
  std::int64_t wall_ns = 0;
  std::int64_t wrong = 0;
};

std::int64_t sent_bytes(Rank& rank) {
  std::int64_t sent = 0;
  for (const auto& sum : rank.traffic().sums()) {
    sent += sum.sent_bytes;
  }
  return sent;
}

std::size_t largest_count(const CollectiveRequest& request) {
  return *std::max_element(request.sizes.begin(), request.sizes.end()) / size_of(request.dtype);
}

std::string name_of_case(const CollectiveRequest& request, const CollectiveCase& what) {
  return fmt::format("{} {} {} B", request.operation, what.row->algorithm, what.bytes);
}

// Measures all that is asked for on one rank, in its two buffers.
class Measuring {
 public:
  Measuring(Rank& rank, const CollectiveRequest& request, const RunCase& run)
      : rank_(rank),
        request_(request),
        run_(run),
        data_(rank.memory(), request.dtype, {largest_count(request)}, Category::buffers, "data"),
        other_(rank.memory(), request.dtype,
               {other_count(convention_of(request.operation), rank.size(), largest_count(request))},
               Category::buffers, "other") {}

  Sample sample(const CollectiveCase& what, Placement placement) {
    if (rank_.id() == 0) {
      say(what, "");
    }
    const CallBuffers buffers = buffers_of(what);
    const KnownCall known{.operation = request_.operation,
                          .count = what.count,
                          .dtype = request_.dtype,
                          .op = what.op,
                          .root = request_.root,
                          .ranks = rank_.size(),
                          .between_blocks = [&] { say_it_checks(what); }};
    if (request_.check) {
      fill_known(known, placement, rank_.id(), buffers);
    }
    Sample sample = modelled_call(what, placement, buffers);
    if (request_.check) {
      if (rank_.id() == 0) {
        say(what, ": check");
      }
      sample.wrong = static_cast<std::int64_t>(wrong_of(known, placement, buffers));
      clear(buffers);
    }
    sample.wall_ns = timed_calls(what, placement, buffers);
    return sample;
  }

 private:
  void say(const CollectiveCase& what, std::string_view doing) {
    said_ns_ = rank_.wall_ns();
    rank_.note(name_of_case(request_, what) + std::string(doing));
  }

  // Every rank, as long as it lasts: who only computes would count as silent.
  void say_it_checks(const CollectiveCase& what) {
    constexpr std::int64_t often_ns = 500'000'000;
    if (rank_.wall_ns() - said_ns_ > often_ns) {
      say(what, ": check");
    }
  }

  CallBuffers buffers_of(const CollectiveCase& what) {
    const auto other = other_count(convention_of(request_.operation), rank_.size(), what.count);
    return {data_.buffer().slice(0, what.count), other_.buffer().slice(0, other)};
  }

  // Where all ranks have the same result each defines its own chunk of it, and chunks go round:
  // p n in all, not p n on every rank. Written with single messages, as the clocks' meeting is.
  std::size_t wrong_of(const KnownCall& known, Placement placement, CallBuffers buffers) {
    if (known.operation != "all_reduce") {
      return wrong_elements(known, placement, rank_.id(), buffers);
    }
    Comm& world = rank_.world();
    const int me = world.rank();
    const std::array chunks{expected_chunk(known), expected_chunk(known)};
    const auto expected = [&](int k) {
      return chunks[static_cast<std::size_t>(k % 2)].buffer().slice(
          0, chunk_of(known.count, known.ranks, me - k).count);
    };
    define_all_reduce(known, chunk_of(known.count, known.ranks, me).first, expected(0));
    std::size_t wrong = 0;
    for (int k = 0; k < known.ranks; ++k) {
      wrong += differing_elements(chunk(buffers.data, world, me - k), expected(k));
      if (k + 1 < known.ranks) {
        world.send_recv(world.next(), expected(k), world.prev(), expected(k + 1));
      }
    }
    return wrong;
  }

  // Room for the longest chunk.
  Tensor expected_chunk(const KnownCall& known) {
    return {rank_.memory(),
            known.dtype,
            {chunk_of(known.count, known.ranks, 0).count},
            Category::buffers,
            "expected"};
  }

  void call(const CollectiveCase& what, Placement placement, CallBuffers buffers) {
    run_(rank_.world(), what, placement, buffers.data, buffers.other, request_.root);
  }

  Sample modelled_call(const CollectiveCase& what, Placement placement, CallBuffers buffers) {
    barrier(rank_.world());  // all buffers are filled
    align_modelled_clocks(rank_.world());
    const Time start = rank_.now();
    const auto sent = sent_bytes(rank_);
    call(what, placement, buffers);
    return {.modelled = rank_.now() - start, .sent = sent_bytes(rank_) - sent};
  }

  // Zeros stay zeros in every reduction, however often it is repeated in place.
  void clear(CallBuffers buffers) {
    barrier(rank_.world());
    std::memset(buffers.data.data, 0, buffers.data.bytes());
    std::memset(buffers.other.data, 0, buffers.other.bytes());
  }

  std::int64_t timed_calls(const CollectiveCase& what, Placement placement, CallBuffers buffers) {
    for (int i = 0; i < request_.warmup; ++i) {
      call(what, placement, buffers);
    }
    barrier(rank_.world());
    const auto start = rank_.wall_ns();
    for (int i = 0; i < request_.iterations; ++i) {
      call(what, placement, buffers);
    }
    const auto took = rank_.wall_ns() - start;
    barrier(rank_.world());
    return took;
  }

  Rank& rank_;
  const CollectiveRequest& request_;
  const RunCase& run_;
  Tensor data_, other_;
  std::int64_t said_ns_ = 0;
};

Measurement over_ranks(Placement placement, const std::vector<std::vector<Sample>>& ranks,
                       std::size_t at, int iterations) {
  Measurement all{.placement = placement};
  for (const auto& samples : ranks) {
    const Sample& s = samples[at];
    all.modelled = std::max(all.modelled, s.modelled);
    all.sent_most = std::max(all.sent_most, s.sent);
    all.sent_all += s.sent;
    all.wall_s = std::max(all.wall_s, static_cast<double>(s.wall_ns) / 1e9 / iterations);
    all.wrong += s.wrong;
  }
  return all;
}

// Address space of one rank, which is memory only where it is touched: algorithms that copy, or
// average in a wider type, hold several buffers, and a receiver what has come in from other nodes.
std::size_t region_bytes(const CollectiveRequest& request) {
  constexpr std::size_t most_copies = 8;
  const auto whole = largest_count(request) * size_of(request.dtype);
  const auto wanted = rank_bytes(request) + most_copies * whole;
  const auto memory = machine_memory();
  const auto ranks = static_cast<std::size_t>(request.settings.ranks);
  return memory ? std::clamp(memory->total / 10 * 9 / ranks, rank_bytes(request), wanted) : wanted;
}

JobOptions options_of(const CollectiveRequest& request,
                      const std::function<void(std::string_view)>& progress) {
  return {.cluster = cluster_of(request.settings),
          .eager_limit = request.eager_limit,
          .region_bytes = region_bytes(request),
          .limit = request.timeout,
          .pace = request.pace,
          .log = LogLevel::none,
          .on_note = [&progress](int, std::string_view note) { progress(note); }};
}

void run_by_table(Comm& comm, const CollectiveCase& what, Placement placement, Buffer data,
                  Buffer other, int root) {
  run_placed(comm, *what.row, placement, data, other, what.op, root);
}

}  // namespace

std::vector<CollectiveCase> cases_of(const CollectiveRequest& request) {
  const bool nodes = cluster_of(request.settings).nodes(request.settings.ranks) > 1;
  std::vector<CollectiveCase> cases;
  for (const auto& algorithm : request.algorithms) {
    for (const auto op : request.ops) {
      for (const auto bytes : request.sizes) {
        const auto name = chosen(request.operation, algorithm, nodes, bytes);
        cases.push_back({.row = &operation_row(request.operation, name),
                         .bytes = bytes,
                         .count = bytes / size_of(request.dtype),
                         .op = op});
      }
    }
  }
  return cases;
}

std::size_t rank_bytes(const CollectiveRequest& request) {
  const auto whole = largest_count(request) * size_of(request.dtype);
  const auto other = other_count(convention_of(request.operation), request.settings.ranks, whole);
  constexpr std::size_t slack = 16UL << 20;
  return 2 * whole + other + slack;
}

void check_memory(const CollectiveRequest& request) {
  const auto memory = machine_memory();
  const auto ranks = static_cast<std::size_t>(request.settings.ranks);
  const double each = static_cast<double>(rank_bytes(request));
  if (!memory || each * static_cast<double>(ranks) <= static_cast<double>(memory->available)) {
    return;
  }
  const auto largest = largest_count(request) * size_of(request.dtype);
  throw BadUse(fmt::format(
      "{} of {} on {} ranks needs {:.1f} GB of memory ({:.3f} GB a rank: its buffers, and copies "
      "under way), and {:.1f} GB are available: give a smaller -e or fewer ranks",
      request.operation, to_string(Bytes{static_cast<std::int64_t>(largest)}), ranks,
      each * static_cast<double>(ranks) / 1e9, each / 1e9,
      static_cast<double>(memory->available) / 1e9));
}

std::vector<MeasuredCase> measure(const CollectiveRequest& request,
                                  const std::function<void(std::string_view)>& progress,
                                  const RunCase& planted) {
  const RunCase run = planted ? planted : run_by_table;
  const auto cases = cases_of(request);
  const auto& placements = convention_of(request.operation).placements;
  const auto samples =
      run_ranks(request.settings.ranks, options_of(request, progress), [&](Rank& rank) {
        Measuring measuring(rank, request, run);
        std::vector<Sample> mine;
        for (const auto& what : cases) {
          for (const auto placement : placements) {
            mine.push_back(measuring.sample(what, placement));
          }
        }
        return mine;
      });
  std::vector<MeasuredCase> measured;
  std::size_t at = 0;
  for (const auto& what : cases) {
    auto& row = measured.emplace_back(MeasuredCase{.what = what, .placements = {}});
    for (const auto placement : placements) {
      row.placements.push_back(over_ranks(placement, samples, at++, request.iterations));
    }
  }
  return measured;
}

}  // namespace ringside
