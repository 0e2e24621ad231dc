// A job in which an algorithm runs on symbols, and on rough numbers beside them.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "collectives/definition.hpp"
#include "collectives/expressions.hpp"
#include "runtime/launch.hpp"

namespace ringside {

using RunCall =
    std::function<void(Comm& comm, const CollectiveCall& call, Buffer data, Buffer out)>;

// An algorithm of the operation's table.
RunCall run_row(std::string_view algorithm);

struct SymbolicJob {
  RunCall run;
  int ranks = 1;
  int gpus_per_node = 0;                // 0: one node
  std::vector<CollectiveCall> calls{};  // made one after the other
  DType numbers = DType::f32;
  std::chrono::nanoseconds limit = std::chrono::seconds(10);
  // Which elements' values are kept at every step; none, or all of one call.
  bool history = false;
  std::vector<std::size_t> watched{};  // with history: only these elements; empty: all
};

// What one rank held: `values` of the watched elements when a step began, and at the end.
struct Moment {
  int step = 0;      // that is about to begin; the number of steps at the end
  Text<16> phase{};  // of the step that ends
  std::vector<Symbol> values{};
  std::vector<Symbol> out{};  // of all_to_all
};

// A message of the symbols, as its receiver took it.
struct TakenMessage {
  Envelope envelope{};
  int step = 0;  // of the receiver
  std::vector<Symbol> carried{};
};

struct RankSymbols {
  std::vector<Symbol> result{};      // all elements after the call
  std::vector<std::byte> numbers{};  // the same call on rough numbers
  std::vector<Moment> history{};
  std::vector<TakenMessage> taken{};  // with history
};

struct SymbolicRun {
  std::vector<std::vector<RankSymbols>> calls{};  // [call][rank]
  std::vector<std::vector<SymbolNode>> tables{};  // [rank]
  std::vector<TrafficRecord> messages{};          // of the symbols
  std::optional<std::string> failure{};           // the job died: why
  std::exception_ptr error{};                     // then: the error of its kind
};

SymbolicRun run_on_symbols(const SymbolicJob& job);

// The rough number that element i of a rank holds: of either sign, from 1e-4 to 1e4, so that every
// other order of additions rounds to other bits.
float rough_number(int rank, std::size_t i);

}  // namespace ringside
