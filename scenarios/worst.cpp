#include "scenarios/worst.hpp"

#include <spdlog/fmt/fmt.h>

#include <cmath>

namespace ringside {

Worst worst_at(std::string what, const Spot& spot, int rank, int step) {
  Worst worst{.what = std::move(what),
              .tensor = std::string(std::string_view(spot.tensor)),
              .rank = rank,
              .step = step,
              .run = spot.run,
              .reference = spot.reference};
  if (spot.there()) {
    worst.element = spot.element;
  }
  return worst;
}

std::string sentence(const Worst& w) {
  std::string text = w.what;
  text += w.tensor.empty() ? "" : " of " + w.tensor;
  text += w.element ? fmt::format(", element {},", *w.element) : "";
  text += fmt::format(" on rank {}", w.rank);
  if (w.step) {
    text += *w.step == 0 ? " before the first step" : fmt::format(" at step {}", *w.step);
  }
  if (w.run) {
    text += fmt::format(": {:.9g} in the run", *w.run);
    text += w.reference ? fmt::format(", {:.9g} {}", *w.reference, w.judge) : "";
  }
  return text + (w.cause.empty() ? "" : ": " + w.cause);
}

nlohmann::json json_number(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(fmt::format("{}", value));
}

nlohmann::json worst_json(const Worst& w) {
  const auto text = [](const std::string& s) {
    return s.empty() ? nlohmann::json() : nlohmann::json(s);
  };
  return {{"what", w.what},
          {"tensor", text(w.tensor)},
          {"element", w.element ? nlohmann::json(*w.element) : nlohmann::json()},
          {"rank", w.rank},
          {"step", w.step ? nlohmann::json(*w.step) : nlohmann::json()},
          {"run", w.run ? json_number(*w.run) : nlohmann::json()},
          {"reference", w.reference ? json_number(*w.reference) : nlohmann::json()},
          {"cause", text(w.cause)}};
}

}  // namespace ringside
