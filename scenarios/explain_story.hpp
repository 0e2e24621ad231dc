// A collective told step by step: who sends what to whom, and what every rank then holds.
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "collectives/diagnosis.hpp"

namespace ringside {

struct ExplainedCall {
  OperationRow row;
  int ranks = 4;
  int gpus_per_node = 0;  // 0: one node
  std::size_t count = 4;
  ReduceOp op = ReduceOp::none;
  int root = 0;
  std::chrono::nanoseconds timeout = std::chrono::seconds(10);
  RunCall run{};  // instead of the row's algorithm

  Cluster cluster() const {
    Cluster cluster;
    cluster.gpus_per_node = gpus_per_node;
    return cluster;
  }

  CollectiveCall call() const { return {row.operation, count, op, root}; }
};

// Elements are told as f32, whatever they are run on.
inline constexpr std::int64_t told_element_bytes = 4;

using Holdings = std::vector<std::vector<Symbol>>;  // [rank][element]

struct ToldMessage {
  int src = 0;
  int dst = 0;
  int chunk = -1;  // as the algorithm calls it; -1: it gives no name
  std::int64_t bytes = 0;
  LinkClass link = LinkClass::self;
  Time start{0};                  // modelled; for the order only
  std::vector<Symbol> carried{};  // all elements
  std::string taken{};            // the step in which it is received, where that is a later one
};

struct ToldStep {
  std::string phase;                         // empty: after the last step
  std::map<int, int> own{};                  // rank: the number that it gives to this step
  std::vector<ToldMessage> messages{};       // by start
  Holdings holds{};                          // afterwards
  std::vector<std::vector<bool>> changed{};  // in this step, [rank][element]
  std::vector<std::int64_t> sent{};          // bytes so far, by rank
  std::vector<std::int64_t> received{};

  std::int64_t bytes() const;  // of this step
  std::int64_t bytes_so_far() const;
};

struct Story {
  ExplainedCall asked;
  Expressions expressions{{}};
  bool moves = false;  // from one buffer to another: steps show the other one
  Holdings start{};
  std::vector<ToldStep> steps{};
  std::size_t judged =
      0;  // elements, over all ranks, that the definition speaks of; of a barrier, ranks
  std::size_t wrong = 0;
  std::string fault{};  // why the definition does not hold, or the job died; empty: it holds
  std::optional<Diagnosis> diagnosis{};  // of the first wrong element
  std::exception_ptr died{};             // the error with which the job died

  // Steps of the algorithm: without what comes after the last one.
  std::size_t numbered() const {
    return steps.size() - (!steps.empty() && steps.back().phase.empty() ? 1 : 0);
  }
};

// Runs the algorithm on symbols.
Story tell_story(const ExplainedCall& asked);

}  // namespace ringside
