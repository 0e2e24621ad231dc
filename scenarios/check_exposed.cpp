// Exposed communication: the modelled time from the end of the last rank's backward to the last
// gradient.
#include "scenarios/checks.hpp"
#include "scenarios/inputs.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/outcome_figures.hpp"
#include "scenarios/overlap_formula.hpp"

namespace ringside {

namespace {

// Times of the last step, when all ranks have the same tokens.
struct Exposure {
  Time backward{0};  // with forward
  Time exposed{0};
  Time communication{0};  // by formula: what the buckets take on the link, one after the other
};

Exposure measure(const Settings& s, const TrainingOutcome& outcome) {
  Exposure exposure{.backward = forward_and_backward(outcome), .exposed = exposed_time(outcome)};
  for (const Bucket& bucket : buckets_of(s)) {
    exposure.communication += ring_time(s, bucket, cluster_of(s).nvlink);
  }
  return exposure;
}

double share(Time part, Time whole) {
  return whole.count() == 0
             ? 0
             : static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

// Whether the formula of communication is of such a run.
bool has_formula(const Settings& s) {
  return s.ranks > 1 && s.parallel.tp == 1 && cluster_of(s).nodes(s.ranks) == 1 &&
         s.collectives.all_reduce == "ring" && s.parallel.zero == 0;
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
  if (at_true_scale(s)) {
    return check_exposed_at_true_scale(context);
  }
  const Exposure here = measure(s, context.main);
  if (!has_formula(s)) {
    return {{.name = "exposed",
             .measured = seconds(here.exposed),
             .gate = "formula: a ring all-reduce of several ranks in one node",
             .verdict = CheckVerdict::not_applicable}};
  }
  const std::string times = "backward with forward " + seconds(here.backward) + ", communication " +
                            seconds(here.communication);
  Checks checks;
  if (s.dp.overlap && buckets_of(s).size() == 1) {
    checks.push_back({.name = "exposed.some_is_hidden",
                      .measured = seconds(here.exposed),
                      .gate = "several buckets",
                      .verdict = CheckVerdict::not_applicable,
                      .note = "the one bucket leaves when backward has ended; " + times});
  } else if (s.dp.overlap) {
    checks.push_back(
        beside("exposed.some_is_hidden", here.exposed, Than::less, here.communication, "", times));
  } else {
    checks.push_back(below("exposed.off_the_formula",
                           std::abs(share(here.exposed - here.communication, here.communication)),
                           0.01, "exposed " + seconds(here.exposed) + ": all of it; " + times));
  }
  if (s.checks.peer.empty()) {
    return checks;
  }
  Settings other = peer_of(s);
  other.ranks = s.ranks;
  other.cluster = s.cluster;
  other.links = s.links;
  const int expected = hides_more(s, other);
  if (expected == 0 || !has_formula(other)) {
    checks.push_back(
        {.name = "exposed.share_of_communication",
         .measured = expected == 0 ? "alike" : "a peer without a formula",
         .gate = "another than the peer's",
         .verdict = CheckVerdict::not_applicable,
         .note = expected == 0
                     ? "no overlap against overlap, nor fewer tokens, beside " + s.checks.peer
                     : s.checks.peer + " has no ring all-reduce of gradients in one node"});
    return checks;
  }
  const auto truth = reference_of(other, plan_of(other, context.text));
  const Exposure there = measure(other, context.run(other, truth));
  const double mine = share(here.exposed, here.communication);
  const double theirs = share(there.exposed, there.communication);
  checks.push_back(
      lesson(holds("exposed.share_of_communication", expected > 0 ? mine < theirs : mine > theirs,
                   std::to_string(mine), (expected > 0 ? "< " : "> ") + std::to_string(theirs),
                   "the other figure is of " + s.checks.peer)));
  return checks;
}

}  // namespace ringside
