#include "runtime/cause.hpp"

#include <tuple>

#include "runtime/waiter.hpp"

namespace ringside {

bool is_failure(Ending ending) {
  return ending != Ending::returned && ending != Ending::stopped;
}

std::string failure_text(int rank, const RankOutcome& outcome) {
  const std::string name = "rank " + std::to_string(rank);
  if (outcome.ending != Ending::threw) {
    return name + " " + outcome.text;
  }
  if (outcome.text.empty()) {
    return name + " threw " + outcome.type;
  }
  return outcome.text.starts_with(name + ": ") ? outcome.text : name + ": " + outcome.text;
}

int find_cause(const std::vector<const RankOutcome*>& ranks,
               const std::vector<std::uint64_t>& noticed) {
  using Key = std::tuple<bool, bool, std::uint64_t, bool>;
  int cause = -1;
  Key best;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const RankOutcome& rank = *ranks[r];
    if (rank.ending == Ending::returned) {
      continue;
    }
    const bool threw = rank.ending == Ending::threw;
    const Key key{!is_failure(rank.ending), threw && rank.type == "PeerLost", noticed[r], threw};
    if (cause < 0 || key < best) {
      cause = static_cast<int>(r);
      best = key;
    }
  }
  return cause;
}

bool is_silence(const RankOutcome& outcome) {
  return outcome.ending == Ending::silent ||
         (outcome.ending == Ending::threw && outcome.type == "PeerLost" &&
          outcome.text.find(past_the_limit) != std::string::npos);
}

std::string stopped_text(const std::optional<WaitRecord>& wait, const std::string& cause) {
  return "stopped " + (wait ? "in " + text_of(*wait) : std::string("while it computed")) + ": " +
         cause;
}

}  // namespace ringside
