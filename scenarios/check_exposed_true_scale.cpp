// Exposed communication of a published model under data parallelism: the modelled times of the run
// beside their formulas, and from how many tokens backward is long enough.
#include <spdlog/fmt/fmt.h>

#include "scenarios/checks.hpp"
#include "scenarios/inputs.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/outcome_figures.hpp"
#include "scenarios/overlap_formula.hpp"

namespace ringside {

namespace {

bool has_formula(const Settings& s) {
  return s.ranks > 1 && s.parallel.tp == 1 && s.parallel.zero == 0 &&
         s.parallel.microbatches == 1 && s.parallel.recompute == "none" &&
         s.collectives.all_reduce == "ring" && s.train.batch % s.ranks == 0 && only_link(s);
}

std::string account_text(const Settings& s) {
  return s.costs.account == "chapter" ? "the chapter's account" : "the counted account";
}

Check same_time(std::string name, Time measured, Time formula, const std::string& note) {
  return equal(std::move(name), measured.count(), formula.count(), "ps",
               to_string(measured) + ": " + note);
}

Check reported(std::string name, std::string measured, std::string note) {
  return {.name = std::move(name),
          .measured = std::move(measured),
          .gate = "reported",
          .verdict = CheckVerdict::pass,
          .note = std::move(note)};
}

Settings with_tokens(Settings s, std::int64_t tokens) {
  s.train.batch = s.ranks;
  s.model.sequence = static_cast<int>(tokens);
  return s;
}

// Backward of as many tokens as the formula says lasts as long as the all-reduce, and of one fewer
// it does not. What such a run leaves exposed all the same: the first bucket leaves when the first
// layer's gradients are there, the last when backward has ended.
Checks check_tokens_to_hide(const CheckContext& context, Time all_reduce) {
  const Settings& s = context.settings;
  const std::int64_t tokens = tokens_to_hide(s, all_reduce);
  const auto enough = context.run(with_tokens(s, tokens), context.truth);
  const Time longer = backward_time(enough);
  const Time shorter = backward_time(context.run(with_tokens(s, tokens - 1), context.truth));
  Check check =
      holds("exposed.tokens_to_hide", longer >= all_reduce && shorter < all_reduce,
            std::to_string(tokens), "= all-reduce flops / 4 N'",
            fmt::format(
                "of a rank, whose backward lasts as long; executed: backward of {} takes {}, of "
                "{} {}, the all-reduce {}",
                tokens, to_string(longer), tokens - 1, to_string(shorter), to_string(all_reduce)));
  check.measured = tokens;
  const OverlapFormula formula = overlap_formula(with_tokens(s, tokens), *only_link(s));
  return {check, same_time("exposed.left_at_that_length", exposed_time(enough), formula.exposed,
                           fmt::format("of {} tokens: buckets wait for their layers", tokens))};
}

// The same run by the other account of what computing takes.
Check report_account(const CheckContext& context, const Settings& other, Time all_reduce) {
  const auto outcome = context.run(other, context.truth);
  return reported("exposed.by_" + other.costs.account + "_account",
                  to_string(exposed_time(outcome)),
                  fmt::format("backward {}, {} products a token, as long as the all-reduce from {} "
                              "tokens on",
                              to_string(backward_time(outcome)), products_of_token(other),
                              tokens_to_hide(other, all_reduce)));
}

double share(Time part, Time whole) {
  return static_cast<double>(part.count()) / static_cast<double>(whole.count());
}

// Beside the peer, on its own links: which of the two exposes the larger share, by formula and
// executed.
Check check_beside_peer(const CheckContext& context, const OverlapFormula& here) {
  const Settings& s = context.settings;
  Settings other = peer_of(s);
  other.ranks = s.ranks;
  constexpr std::string_view name = "exposed.share_of_communication";
  if (!at_true_scale(other) || !has_formula(other)) {
    return {.name = std::string(name),
            .measured = "no formula",
            .gate = "another than the peer's",
            .verdict = CheckVerdict::not_applicable};
  }
  const OverlapFormula there = overlap_formula(other, *only_link(other));
  const bool more = share(here.exposed, here.all_reduce) > share(there.exposed, there.all_reduce);
  const double mine = share(exposed_time(context.main), here.all_reduce);
  const double theirs = share(exposed_time(context.run(other, context.truth)), there.all_reduce);
  return lesson(holds(std::string(name), more ? mine > theirs : mine < theirs, std::to_string(mine),
                      (more ? "> " : "< ") + std::to_string(theirs),
                      "the other figure is of " + s.checks.peer));
}

}  // namespace

Checks exposed_gates(const Settings& s, const TrainingOutcome& outcome) {
  const OverlapFormula formula = overlap_formula(s, *only_link(s));
  return {
      same_time(
          "exposed.backward", backward_time(outcome), formula.backward,
          fmt::format("4 N' tokens / flops by {}, N' = {}", account_text(s), products_of_token(s))),
      same_time("exposed.time", exposed_time(outcome), formula.exposed,
                "from the end of backward to the last gradient; " + to_string(formula.last_bucket) +
                    " of it is the last bucket, which nothing can hide")};
}

Checks check_exposed_at_true_scale(const CheckContext& context) {
  const Settings& s = context.settings;
  if (!has_formula(s)) {
    return {{.name = "exposed",
             .measured = to_string(exposed_time(context.main)),
             .gate = "formula: one ring all-reduce a step over links of one kind, without ZeRO",
             .verdict = CheckVerdict::not_applicable}};
  }
  const OverlapFormula formula = overlap_formula(s, *only_link(s));
  Settings after = s;
  after.dp.overlap = false;
  const Time all_reduce = exposed_time(context.run(after, context.truth));
  const Time backward = backward_time(context.main);
  Checks checks{same_time("exposed.all_reduce", all_reduce, formula.all_reduce,
                          "2(p-1)/p n over the link, when all of it waits for backward")};
  for (Check& gate : exposed_gates(s, context.main)) {
    checks.push_back(std::move(gate));
  }
  checks.push_back(reported(
      "exposed.backward_is_long_enough", backward < all_reduce ? "no" : "yes",
      fmt::format("all-reduce {}, backward {}", to_string(all_reduce), to_string(backward))));
  for (Check& check : check_tokens_to_hide(context, all_reduce)) {
    checks.push_back(std::move(check));
  }
  if (const auto other = by_other_account(s)) {
    checks.push_back(report_account(context, *other, all_reduce));
  }
  if (!s.checks.peer.empty()) {
    checks.push_back(check_beside_peer(context, formula));
  }
  return checks;
}

}  // namespace ringside
