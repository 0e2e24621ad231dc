#include "scenarios/what_broke.hpp"

#include <spdlog/fmt/fmt.h>

namespace ringside {

namespace {

bool fails(const Check& check) {
  return check.verdict == CheckVerdict::fail;
}

bool is_not_finite(const Check& check) {
  return check.name.ends_with(".finite");
}

// Whether `a` is nearer to the cause than `b`; of equals the one before stays.
bool nearer(const Check& a, const Check& b) {
  if (is_not_finite(a) != is_not_finite(b)) {
    return is_not_finite(a);
  }
  if (a.worst.has_value() != b.worst.has_value()) {
    return a.worst.has_value();
  }
  return a.worst && a.worst->step < b.worst->step;
}

const Check* nearest(const Checks& checks, bool control) {
  const Check* found = nullptr;
  for (const Check& check : checks) {
    if (fails(check) && check.control == control && (!found || nearer(check, *found))) {
      found = &check;
    }
  }
  return found;
}

std::string shown(const nlohmann::json& measured) {
  return measured.is_string() ? measured.get<std::string>() : measured.dump();
}

std::string text_of(const Check& check) {
  if (check.worst) {
    return fmt::format("{} ({} is {}, must be {})", sentence(*check.worst), check.name,
                       shown(check.measured), check.gate);
  }
  return fmt::format("{} is {}, must be {}{}", check.name, shown(check.measured), check.gate,
                     check.note.empty() ? "" : ": " + check.note);
}

std::string text_of(const Departure& d) {
  return sentence({.what = "gradient",
                   .tensor = d.tensor,
                   .element = d.tensor_element,
                   .rank = d.rank,
                   .step = d.step,
                   .run = d.run,
                   .reference = d.definition,
                   .cause = d.cause});
}

}  // namespace

const Check* nearest_to_the_cause(const Checks& checks) {
  const Check* check = nearest(checks, false);
  return check != nullptr ? check : nearest(checks, true);
}

std::string what_broke(const Checks& checks, const std::optional<Divergence>& divergence) {
  if (const Check* check = nearest(checks, false)) {
    const bool from_additions = divergence && divergence->first && check->worst &&
                                check->worst->what != "parameter" && !is_not_finite(*check) &&
                                divergence->first->step <= check->worst->step;
    return from_additions ? text_of(*divergence->first) : text_of(*check);
  }
  if (const Check* check = nearest(checks, true)) {
    return fmt::format("{}: a deliberate fault that no gate catches", check->name);
  }
  return "";
}

std::string what_broke_line(const std::string& what_broke) {
  return what_broke.empty() ? "" : "what broke: " + what_broke + "\n";
}

}  // namespace ringside
