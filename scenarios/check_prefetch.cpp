// Prefetch: the modelled time in which forward and backward of ZeRO-3 wait for communication, with
// and without it.
#include "scenarios/checks.hpp"
#include "scenarios/outcome_figures.hpp"
#include "scenarios/traffic_formula.hpp"

namespace ringside {

namespace {

// On links without latency that carry anything at once, only computing takes time.
Time compute_alone(const CheckContext& context, Settings s) {
  s.links.nvlink = s.links.ib = {.bandwidth = Rate{}, .latency = Time{0}};
  return forward_and_backward(context.run(s, context.truth));
}

}  // namespace

Checks check_prefetch(const CheckContext& context) {
  const Settings& s = context.settings;
  if (s.parallel.zero != 3 || s.ranks == 1) {
    return {{.name = "prefetch.exposed",
             .measured = "nothing is gathered",
             .gate = "parallel.zero = 3 on several ranks",
             .verdict = CheckVerdict::not_applicable}};
  }
  const Time compute = compute_alone(context, s);
  const Time here = forward_and_backward(context.main);
  Settings other = s;
  other.parallel.prefetch = !s.parallel.prefetch;
  const Time there = forward_and_backward(context.run(other, context.truth));
  const std::string note = "of " + to_string(here) + " of forward and backward, computing takes " +
                           to_string(compute) + "; the other figure is " +
                           (s.parallel.prefetch ? "without" : "with") + " prefetch";
  return {beside("prefetch.exposed", here - compute, s.parallel.prefetch ? Than::less : Than::more,
                 there - compute, "", note)};
}

}  // namespace ringside
