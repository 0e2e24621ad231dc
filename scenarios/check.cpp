#include "scenarios/check.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "scenarios/near_miss.hpp"

namespace ringside {

std::string_view name_of(CheckVerdict verdict) {
  switch (verdict) {
    case CheckVerdict::pass:
      return "pass";
    case CheckVerdict::fail:
      return "fail";
    case CheckVerdict::not_applicable:
      return "not_applicable";
  }
  return "";
}

namespace {

Check make(std::string name, nlohmann::json measured, std::string gate, bool held,
           std::string note) {
  return {.name = std::move(name),
          .measured = std::move(measured),
          .gate = std::move(gate),
          .verdict = held ? CheckVerdict::pass : CheckVerdict::fail,
          .note = std::move(note)};
}

}  // namespace

Check below(std::string name, double measured, double limit, std::string note) {
  return make(std::move(name), measured, fmt::format("< {:g}", limit), measured < limit,
              std::move(note));
}

Check equal(std::string name, std::int64_t measured, std::int64_t expected, std::string unit,
            std::string note) {
  return make(std::move(name), measured, fmt::format("= {} {}", expected, unit),
              measured == expected, std::move(note));
}

Check holds(std::string name, bool held, std::string seen, std::string gate, std::string note) {
  return make(std::move(name), std::move(seen), std::move(gate), held, std::move(note));
}

namespace {

// As short as it can be without being the same text as the other's.
std::pair<std::string, std::string> told_apart(Time here, Time there) {
  const std::pair shortest(to_string(here), to_string(there));
  return shortest.first != shortest.second || here == there
             ? shortest
             : std::pair(fmt::format("{} ps", here.count()), fmt::format("{} ps", there.count()));
}

}  // namespace

Check lesson(Check check) {
  check.lesson = true;
  return check;
}

Check beside(std::string name, Time here, Than than, Time there, const std::string& of_there,
             std::string note) {
  const auto [mine, theirs] = told_apart(here, there);
  return lesson(holds(std::move(name), than == Than::less ? here < there : here > there, mine,
                      (than == Than::less ? "< " : "> ") + theirs + of_there, std::move(note)));
}

Check beside(std::string name, std::int64_t here, Than than, std::int64_t there,
             const std::string& of_there, std::string note) {
  return lesson(holds(
      std::move(name), than == Than::less ? here < there : here > there, std::to_string(here),
      fmt::format("{} {}{}", than == Than::less ? "<" : ">", there, of_there), std::move(note)));
}

void leave_lessons_to_their_scenario(Checks& checks, const std::vector<std::string>& changed) {
  for (Check& check : checks) {
    if (check.lesson && check.verdict == CheckVerdict::fail && !changed.empty()) {
      check.verdict = CheckVerdict::not_applicable;
      check.note = fmt::format("the lesson's comparison does not hold with {} changed; {}",
                               joined(changed), check.note);
    }
  }
}

Checks of_which_none_applies(const std::string& check, const Checks& rows) {
  if (std::ranges::any_of(
          rows, [](const Check& row) { return row.verdict != CheckVerdict::not_applicable; })) {
    return {};
  }
  return {holds("checks.run", false, "no row of \"" + check + "\" applies", "one at least",
                rows.empty() ? "it has none for these settings: leave it out of checks.run"
                             : "leave it out of checks.run, or change what its rows say")};
}

bool all_hold(const Checks& checks) {
  return std::none_of(checks.begin(), checks.end(),
                      [](const Check& c) { return c.verdict == CheckVerdict::fail; });
}

}  // namespace ringside
