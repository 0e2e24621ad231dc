#include "scenarios/control.hpp"

namespace ringside {

namespace {

Check row_of(std::string_view name, std::string_view measured) {
  return {.name = "control." + std::string(name),
          .measured = measured,
          .gate = "caught by a gate",
          .control = true};
}

}  // namespace

Check judge_control(std::string_view name, const Checks& gates, const Checks& without_fault) {
  Check check = row_of(name, "no gate broken");
  for (std::size_t i = 0; i < gates.size(); ++i) {
    if (gates[i].verdict != CheckVerdict::fail) {
      continue;
    }
    const bool caught = without_fault[i].verdict == CheckVerdict::pass;
    if (caught || check.note.empty()) {
      check.measured = gates[i].measured;
      check.note = "breaks " + gates[i].name + " " + gates[i].gate;
    }
    if (caught) {
      check.verdict = CheckVerdict::pass;
      return check;
    }
    check.verdict = CheckVerdict::not_applicable;
  }
  if (check.verdict == CheckVerdict::not_applicable) {
    check.note += "; the run without a fault breaks this gate already";
  }
  return check;
}

Check control_changes_nothing(std::string_view name, std::string_view reason) {
  Check check = row_of(name, "changes nothing");
  check.note = reason;
  check.verdict = CheckVerdict::not_applicable;
  return check;
}

}  // namespace ringside
