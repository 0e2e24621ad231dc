#include "scenarios/barrier_order.hpp"

#include <algorithm>
#include <set>

namespace ringside {

namespace {

struct Told {
  Envelope envelope;
  std::set<int> ranks;  // that its sender has heard of
};

}  // namespace

std::vector<std::vector<int>> unheard_ranks(int ranks, std::vector<Envelope> messages) {
  std::stable_sort(messages.begin(), messages.end(),
                   [](const Envelope& a, const Envelope& b) { return a.t0 < b.t0; });
  std::vector<Told> told;
  for (const Envelope& message : messages) {
    std::set<int> heard{message.source};
    for (const Told& earlier : told) {
      if (earlier.envelope.destination == message.source && earlier.envelope.t1 < message.t0) {
        heard.insert(earlier.ranks.begin(), earlier.ranks.end());
      }
    }
    told.push_back({message, std::move(heard)});
  }
  std::vector<std::vector<int>> unheard(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    std::set<int> heard{r};
    for (const Told& message : told) {
      if (message.envelope.destination == r) {
        heard.insert(message.ranks.begin(), message.ranks.end());
      }
    }
    for (int other = 0; other < ranks; ++other) {
      if (!heard.contains(other)) {
        unheard[static_cast<std::size_t>(r)].push_back(other);
      }
    }
  }
  return unheard;
}

}  // namespace ringside
