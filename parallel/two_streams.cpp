#include "parallel/two_streams.hpp"

#include <vector>

#include "collectives/all_gather.hpp"
#include "models/linear.hpp"
#include "runtime/comm.hpp"

namespace ringside {

namespace {

Tensor message_of_each(Rank& rank, std::size_t elements, const char* name) {
  return {rank.memory(), DType::f32, {elements * TwoStreams::ranks}, Category::buffers, name};
}

// One product: side x side by side x side.
void multiply(Rank& rank) {
  constexpr std::size_t side = TwoStreams::side;
  Linear<float> layer({rank.memory(), rank.clock()}, "product", side, side, Activation::identity,
                      1);
  Saved saved;
  const Tensor in(rank.memory(), DType::f32, {side, side}, Category::activations, "in");
  layer.forward(in, saved);
}

// The program's time once it has waited, or, when it would not wait, the end that was announced.
Time through(Rank& rank, Work& work, bool waits) {
  const Time announced = work.end();
  work.wait();
  return waits ? rank.now() : announced;
}

}  // namespace

TwoStreamsTimes run_two_streams(Rank& rank, TwoStreamsForm form) {
  const std::vector<int> all{0, 1, 2};
  Comm ring(rank, "ring", all);
  Comm other(rank, "direct", all);
  Comm& direct = form == TwoStreamsForm::one_group ? ring : other;
  const Tensor round = message_of_each(rank, TwoStreams::ring_elements, "round");
  const Tensor first = message_of_each(rank, TwoStreams::direct_elements, "first");
  const Tensor second = message_of_each(rank, TwoStreams::direct_elements, "second");
  const bool with_ring = form != TwoStreamsForm::direct_alone;
  const bool with_direct = form != TwoStreamsForm::ring_alone;
  const bool waits = form != TwoStreamsForm::as_announced;

  TwoStreamsTimes times;
  Work a;
  Work b;
  Work c;
  if (with_ring) {
    const bool burst = form == TwoStreamsForm::ring_in_a_burst;
    a = all_gather_async(ring, round, {.algorithm = burst ? "direct" : "ring", .label = "round"});
  }
  multiply(rank);
  times.product = rank.now();
  if (with_direct) {
    b = all_gather_async(direct, first, {.algorithm = "direct", .label = "first"});
    c = all_gather_async(direct, second, {.algorithm = "direct", .label = "second"});
  }
  times.direct = with_direct ? through(rank, b, waits) : Time{0};
  times.ring = with_ring ? through(rank, a, waits) : Time{0};
  times.direct_again = with_direct ? through(rank, c, waits) : Time{0};
  return times;
}

}  // namespace ringside
