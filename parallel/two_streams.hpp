// Two groups of the same three ranks, beside each other on one port of each rank.
//
//   program   launches `ring`, multiplies two matrices, launches `direct` twice
//   ring      an all-gather round a ring: two messages, each sent when the one before has come, so
//             that there is a latency gap between them
//   direct    two all-gathers one behind the other: in each, two messages leave at once and queue
//
// Then the program waits, for each in the order in which they end.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/rank.hpp"

namespace ringside {

struct TwoStreams {
  static constexpr int ranks = 3;
  static constexpr std::size_t ring_elements = 10'000;   // f32, of a message
  static constexpr std::size_t direct_elements = 3'750;  // f32, of a message
  static constexpr std::size_t side = 100;               // of the matrices of the product
};

// How it is run; all but `shared` are faults of modelled time, each made without touching a port.
enum class TwoStreamsForm : std::uint8_t {
  shared,
  ring_alone,       // without the other: what ports with unlimited concurrency would give
  direct_alone,     // the same
  one_group,        // all three on one stream: one queue
  ring_in_a_burst,  // the ring's two messages leave without a gap, as if gaps were load
  as_announced,     // the ends that were announced, without what others have slowed down since
};

// When the program was through with each; 0 for what the form leaves out.
struct TwoStreamsTimes {
  Time product{0};
  Time direct{0};  // the first of the two
  Time ring{0};
  Time direct_again{0};
  bool operator==(const TwoStreamsTimes&) const = default;
};

TwoStreamsTimes run_two_streams(Rank& rank, TwoStreamsForm form);

}  // namespace ringside
