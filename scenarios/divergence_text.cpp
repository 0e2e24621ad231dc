// How a divergence is shown: where it enters, why, a table of the drift and a small plot of it.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "scenarios/divergence.hpp"
#include "scenarios/wrap.hpp"

namespace ringside {

namespace {

// A bar for each step: the difference of the losses, on a logarithmic scale from 1e-8 to 1.
std::string plot(const Drift& drift) {
  constexpr std::array bars{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string line;
  for (const DriftStep& step : drift.steps) {
    const double difference = std::abs(step.loss - step.definition);
    if (difference == 0) {
      line += "·";
      continue;
    }
    const double place = std::isfinite(difference) ? (std::log10(difference) + 8) / 8 : 1;
    line += bars[static_cast<std::size_t>(std::clamp(place, 0.0, 1.0) * (bars.size() - 1))];
  }
  return line;
}

std::string first_text(const Departure& d) {
  return fmt::format(
      "  first difference from the definition: training step {}, bucket {}, chunk {}, element {}, "
      "on rank {}\n"
      "    the run has {:.9g}, the definition {:.9g}; {} elements of this rank differ in that "
      "step\n"
      "    {}\n",
      d.step, d.bucket, d.chunk, d.element, d.rank, d.run, d.definition, d.elements,
      wrapped(d.cause, 4, 100));
}

std::string drift_text(const Drift& drift) {
  std::string text = fmt::format("  drift with {}: |loss - definition's| by step {}\n",
                                 drift.optimizer, plot(drift));
  text += fmt::format("    {:>5} {:>12} {:>12} {:>12} {:>14} {:>14}\n", "step", "loss",
                      "definition", "difference", "gradient, max", "weights, max");
  for (std::size_t i = 0; i < drift.steps.size(); ++i) {
    const DriftStep& s = drift.steps[i];
    text += fmt::format("    {:>5} {:>12.6f} {:>12.6f} {:>12.3g} {:>14.3g} {:>14.3g}\n", i + 1,
                        s.loss, s.definition, s.loss - s.definition, s.gradient, s.parameters);
  }
  return text;
}

}  // namespace

std::string divergence_text(const Divergence& divergence) {
  if (!divergence.first) {
    return "  the all-reduce is not to blame: the run has the bits of its definition, every part "
           "added once\n";
  }
  std::string text = first_text(*divergence.first);
  for (const Drift& drift : divergence.drifts) {
    text += drift_text(drift);
  }
  return text;
}

nlohmann::json divergence_json(const Divergence& divergence) {
  nlohmann::json document{{"first", nullptr}, {"drift", nlohmann::json::array()}};
  if (const auto& d = divergence.first) {
    document["first"] = {{"training_step", d->step},
                         {"rank", d->rank},
                         {"bucket", d->bucket},
                         {"chunk", d->chunk},
                         {"element", d->element},
                         {"run", d->run},
                         {"definition", d->definition},
                         {"elements_that_differ", d->elements},
                         {"cause", d->cause}};
  }
  for (const Drift& drift : divergence.drifts) {
    auto steps = nlohmann::json::array();
    for (const DriftStep& s : drift.steps) {
      steps.push_back({{"loss", s.loss},
                       {"definition", s.definition},
                       {"gradient", s.gradient},
                       {"parameters", s.parameters}});
    }
    document["drift"].push_back({{"optimizer", drift.optimizer}, {"steps", steps}});
  }
  return document;
}

}  // namespace ringside
