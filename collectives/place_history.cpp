#include "collectives/place_history.hpp"

namespace ringside {

int PlaceHistory::step_of_arrival(int rank, Symbol symbol) const {
  const auto& history = moments(rank);
  for (std::size_t m = 0; m < history.size(); ++m) {
    if (value(history[m]) == symbol) {
      return history[m].step - 1;
    }
  }
  return -1;
}

PlaceHistory::Event PlaceHistory::first_passed_on(Symbol symbol) const {
  const int maker = symbol.nothing() ? -1 : symbol.rank();
  Event first;
  for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
    const int step = r == maker ? -1 : step_of_arrival(r, symbol);
    if (step >= 0 && (first.rank < 0 || step < first.step)) {
      first = {r, step};
    }
  }
  return first;
}

bool PlaceHistory::contains(Symbol symbol, Symbol leaf) const {
  const auto leaves = expressions_.leaves(symbol);
  return std::binary_search(leaves.begin(), leaves.end(), leaf);
}

PlaceHistory::Event PlaceHistory::first_lost(const std::vector<int>& ranks) const {
  Event first;
  for (const int m : ranks) {
    const Symbol part = Symbol::leaf(m, element_);
    bool elsewhere = false;
    for (int r = 0; r < static_cast<int>(ranks_.size()) && !elsewhere; ++r) {
      const auto& history = moments(r);
      elsewhere = r != m && std::any_of(history.begin(), history.end(), [&](const Moment& moment) {
                    return contains(value(moment), part);
                  });
    }
    const auto& mine = moments(m);
    const auto gone = std::find_if(mine.begin(), mine.end(), [&](const Moment& moment) {
      return !contains(value(moment), part);
    });
    if (!elsewhere && gone != mine.end() && (first.rank < 0 || gone->step - 1 < first.step)) {
      first = {m, gone->step - 1};
    }
  }
  return first;
}

}  // namespace ringside
