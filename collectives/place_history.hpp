// What all ranks held in one place of their buffers, step by step.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "collectives/symbolic_run.hpp"

namespace ringside {

class PlaceHistory {
 public:
  // A rank and one of its own steps; rank -1: none.
  struct Event {
    int rank = -1;
    int step = 0;
  };

  // `slot`: the place among the watched elements.
  PlaceHistory(const std::vector<RankSymbols>& ranks, const Expressions& expressions,
               const CollectiveCall& call, std::size_t slot, std::size_t element)
      : ranks_(ranks),
        expressions_(expressions),
        out_(call.operation == "all_to_all"),
        slot_(slot),
        element_(element) {}

  // The step in which a rank came to hold the symbol; -1: it held it from the start, or never.
  int step_of_arrival(int rank, Symbol symbol) const;
  // Where another rank than its maker first held the symbol.
  Event first_passed_on(Symbol symbol) const;
  // The first of `ranks` that overwrote its own part while nobody else ever had it here.
  Event first_lost(const std::vector<int>& ranks) const;

  int last_step(int rank) const { return std::max(moments(rank).back().step - 1, 0); }

 private:
  const std::vector<Moment>& moments(int rank) const {
    return ranks_[static_cast<std::size_t>(rank)].history;
  }

  Symbol value(const Moment& moment) const { return (out_ ? moment.out : moment.values)[slot_]; }

  bool contains(Symbol symbol, Symbol leaf) const;

  const std::vector<RankSymbols>& ranks_;
  const Expressions& expressions_;
  bool out_;
  std::size_t slot_;
  std::size_t element_;
};

}  // namespace ringside
