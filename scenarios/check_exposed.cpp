// Exposed communication: the modelled time from the end of the last rank's backward to the last
// gradient. What a rank waits for a slower one is not communication.
#include <algorithm>

#include "scenarios/checks.hpp"
#include "scenarios/scenario_file.hpp"

namespace ringside {

namespace {

// Times of one step, the longest over the ranks; the last step, when all have the same tokens.
struct Exposure {
  Time backward{0};
  Time exposed{0};
  Time communication{0};  // by formula: what the buckets take on the link, one after the other
};

// 2(p-1) steps of latency + chunk / bandwidth, for every bucket.
Time ring_time(const Settings& s) {
  const std::size_t element = size_of(parse_dtype(s.model.dtype));
  Time total{0};
  for (const auto& b : buckets_of(s)) {
    const auto chunk = static_cast<std::int64_t>(b.padded * element) / s.ranks;
    total +=
        2 * (s.ranks - 1) * (s.links.nvlink.latency + time_for(chunk, s.links.nvlink.bandwidth));
  }
  return total;
}

Exposure measure(const Settings& s, const TrainingOutcome& outcome) {
  Exposure longest{.communication = ring_time(s)};
  Time backward_end{0};
  Time gradients_ready{0};
  for (const auto& rank : outcome.ranks) {
    const StepOutcome& last = rank.back();
    longest.backward = std::max(longest.backward, last.backward_end - last.start);
    backward_end = std::max(backward_end, last.backward_end);
    gradients_ready = std::max(gradients_ready, last.gradients_ready);
  }
  longest.exposed = gradients_ready - backward_end;
  return longest;
}

double share(Time part, Time whole) {
  return whole.count() == 0
             ? 0
             : static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

// Which of two scenarios hides the larger share: 1 this one, -1 its peer, which has the overlap or
// more tokens; 0 when they do not differ so.
int hides_more(const Settings& s, const Settings& peer) {
  if (s.dp.overlap != peer.dp.overlap) {
    return s.dp.overlap ? 1 : -1;
  }
  return s.dp.overlap && s.train.batch < peer.train.batch ? -1 : 0;
}

std::string seconds(Time t) {
  return to_string(t);
}

}  // namespace

Checks check_exposed(const CheckContext& context) {
  const Settings& s = context.settings;
  const Exposure here = measure(s, context.main);
  if (s.ranks == 1 || s.parallel.tp > 1 || cluster_of(s).nodes(s.ranks) > 1 ||
      s.collectives.all_reduce != "ring" || s.parallel.zero > 0) {
    return {{.name = "exposed",
             .measured = seconds(here.exposed),
             .gate = "formula: a ring all-reduce of several ranks in one node",
             .verdict = CheckVerdict::not_applicable}};
  }
  const std::string times = "backward with forward " + seconds(here.backward) + ", communication " +
                            seconds(here.communication);
  Checks checks;
  if (s.dp.overlap) {
    checks.push_back(holds("exposed.some_is_hidden", here.exposed < here.communication,
                           seconds(here.exposed), "< " + seconds(here.communication), times));
  } else {
    checks.push_back(below("exposed.off_the_formula",
                           std::abs(share(here.exposed - here.communication, here.communication)),
                           0.01, "exposed " + seconds(here.exposed) + ": all of it; " + times));
  }
  if (s.checks.peer.empty()) {
    return checks;
  }
  Settings other = load_scenario(find_scenario(s.checks.peer));
  other.ranks = s.ranks;
  other.cluster = s.cluster;
  other.links = s.links;
  const int expected = hides_more(s, other);
  if (expected == 0) {
    checks.push_back(
        {.name = "exposed.share_of_communication",
         .measured = "alike",
         .gate = "another than the peer's",
         .verdict = CheckVerdict::not_applicable,
         .note = "no overlap against overlap, nor fewer tokens, beside " + s.checks.peer});
    return checks;
  }
  const auto truth = train_alone(plan_of(other, context.text));
  const Exposure there = measure(other, context.run(other, truth));
  const double mine = share(here.exposed, here.communication);
  const double theirs = share(there.exposed, there.communication);
  checks.push_back(holds("exposed.share_of_communication",
                         expected > 0 ? mine < theirs : mine > theirs, std::to_string(mine),
                         (expected > 0 ? "< " : "> ") + std::to_string(theirs),
                         "the other figure is of " + s.checks.peer));
  return checks;
}

}  // namespace ringside
