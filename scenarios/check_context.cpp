// Context parallelism: causal work, counted while executing, beside its formula and beside the
// other layout's.
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "scenarios/checks.hpp"
#include "scenarios/context_experiments.hpp"
#include "scenarios/context_formula.hpp"
#include "scenarios/outcome_figures.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

std::int64_t counted_pairs(const TrainingOutcome& outcome, int rank) {
  return outcome.ranks[static_cast<std::size_t>(rank)].back().head_pairs;
}

// A row for each rank of the first replica, and what the others' differ by.
Checks check_every_rank(const CheckContext& context) {
  const Settings& s = context.settings;
  Checks checks;
  std::int64_t differing = 0;
  for (int r = 0; r < s.ranks; ++r) {
    const std::int64_t counted = counted_pairs(context.main, r);
    const std::int64_t formula = head_pairs_formula(s, context.text, r);
    differing += counted != formula;
    if (mesh_of(s, r).at(Axis::dp) == 0) {
      checks.push_back(equal("pairs.rank_" + std::to_string(r), counted, formula, "pairs",
                             "(query, key), each head, layer, sample and step"));
    }
  }
  checks.push_back(equal("pairs.ranks_that_differ", differing, 0, "ranks",
                         "of all " + std::to_string(s.ranks) + ", from the formula"));
  return checks;
}

// Of one sample and one head, in a job of its own.
Check check_sixteen_tokens(const Settings& s) {
  const auto options = context_options(s);
  std::vector<std::int64_t> expected;
  for (int r = 0; r < s.parallel.cp; ++r) {
    expected.push_back(options.form == ContextForm::ulysses
                           ? 16 * 17 / 2 / s.parallel.cp
                           : pairs_of_sample(s.parallel.cp_layout, s.parallel.cp, r, 16));
  }
  const std::string seen = with_colons(executed_pairs(options, s.parallel.cp, 16));
  return holds("pairs.of_16_tokens", seen == with_colons(expected), seen,
               "= " + with_colons(expected),
               options.form == ContextForm::ulysses ? "a head each, over the ranks" : "one head");
}

// Products of [tokens, width] with [width, tokens] or the like, two operations each, over the pairs
// that count: two forward and four backward; a ring, which keeps no weights, computes the scores
// once more.
Check check_operations(const Settings& s) {
  const auto options = context_options(s);
  const bool ulysses = options.form == ContextForm::ulysses;
  constexpr std::int64_t width = 2;
  std::vector<std::int64_t> expected;
  for (int r = 0; r < s.parallel.cp; ++r) {
    const std::int64_t pairs =
        ulysses ? 16 * 17 / 2 : pairs_of_sample(s.parallel.cp_layout, s.parallel.cp, r, 16);
    expected.push_back((ulysses ? 6 : 7) * 2 * width * pairs);
  }
  const std::string seen = with_colons(executed_operations(options, s.parallel.cp, 16));
  return holds("pairs.operations_of_16_tokens", seen == with_colons(expected), seen,
               "= " + with_colons(expected),
               ulysses ? "6 products, a head of width 2 each" : "7 products, one head of width 2");
}

Check check_time(const CheckContext& context) {
  Settings other = context.settings;
  const bool zigzag = other.parallel.cp_layout == "zigzag";
  other.parallel.cp_layout = zigzag ? "contiguous" : "zigzag";
  const Time here = training_time(context.main);
  const Time there = training_time(context.run(other, context.truth));
  return beside("pairs.time", here, zigzag ? Than::less : Than::more, there,
                " with " + other.parallel.cp_layout, "modelled, all steps");
}

}  // namespace

Checks check_pairs(const CheckContext& context) {
  const Settings& s = context.settings;
  if (s.parallel.cp == 1) {
    return {{.name = "pairs.ranks_that_differ",
             .measured = "parallel.cp = 1",
             .gate = "= 0 ranks",
             .verdict = CheckVerdict::not_applicable}};
  }
  Checks checks = check_every_rank(context);
  checks.push_back(check_sixteen_tokens(s));
  checks.push_back(check_operations(s));
  if (s.parallel.cp_form == "ring") {
    checks.push_back(check_time(context));
  }
  return checks;
}

}  // namespace ringside
