// Section PP: bubbles and what a stage holds. F, B and W are the times of a stage's forward, input
// gradient and weight gradient.
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/schedule.hpp"
#include "runtime/units.hpp"
#include "scenarios/figure_sections.hpp"
#include "scenarios/schedule_experiments.hpp"

namespace ringside {

namespace {

constexpr double stages = 8;
constexpr double microbatches = 32;
constexpr double few_microbatches = 8;
constexpr double chunks = 4;  // of an interleaved stage

// Of GPipe and 1F1B; Narayanan and others 2021, section 2.2.1.
double over_ideal(double p, double m) {
  return (p - 1) / m;
}

double over_total(double p, double m) {
  return (p - 1) / (m + p - 1);
}

// Micro-batches that stage k of 1F1B has under way, the most over the stages.
double in_flight_1f1b(int p, int m) {
  int most = 0;
  for (int k = 0; k < p; ++k) {
    most = std::max(most, std::min(m, p - k));
  }
  return most;
}

double stages_of_a_device(const std::string& schedule) {
  const PipelineShape shape{.stages = static_cast<int>(stages),
                            .microbatches = static_cast<int>(microbatches)};
  return static_cast<double>(StagePlacement(make_schedule(schedule, shape)).stages_on(0).size());
}

Figure noted(Figure figure, std::string property) {
  figure.property = std::move(property);
  return figure;
}

}  // namespace

std::vector<Figure> pipeline_figures(const FigureInputs& in) {
  const double per_stage = in.layers() / stages;
  const double message = in.tokens * in.hidden() * in.bytes_per_element;
  const double head = in.head() / (in.body() / in.layers());
  const double interleaved = over_ideal(stages, microbatches) / chunks;
  const double alone = (stages - 1) / stages;
  const double few = over_total(stages, few_microbatches);
  const double one = 1;  // F = B = W
  const double copies = stages_of_a_device("dualpipe") / stages_of_a_device("1f1b");
  const double zero_bubble = (stages - 1) * (one + one - one) / ((stages - 1) * (one + one + one));
  return {number("PP01", "config: num_hidden_layers", in.layers(), "layers",
                 fixed(in.layers(), 0) + " 层"),
          number("PP02", "L/p", per_stage, "layers", fixed(per_stage, 0) + " 层"),
          noted(number("PP03", "tokens h 2", message, "B", gigabytes(message)),
                fmt::format("{}, of which one decimal of GB shows nothing",
                            to_string(Bytes{std::llround(message)}))),
          number("PP04", "(p-1)/m", over_ideal(stages, microbatches), "ratio",
                 percent(over_ideal(stages, microbatches), 1)),
          number("PP05", "(p-1)/(m+p-1)", over_total(stages, microbatches), "ratio",
                 percent(over_total(stages, microbatches), 1)),
          number("PP06", "(p-1)/(v m): Narayanan and others 2021, section 2.2.2", interleaved,
                 "ratio", percent(interleaved, 1)),
          number("PP07", "(p-1)/p", alone, "ratio", percent(alone, 1)),
          number("PP08", "(p-1)/m", over_ideal(stages, few_microbatches), "ratio",
                 percent(over_ideal(stages, few_microbatches), 1)),
          number("PP09", "(p-1)/(m+p-1)", few, "ratio", "7/15 ≈ " + percent(few, 1)),
          statement("PP10", "(p-1)/m: Narayanan and others 2021, section 2.2.1",
                    "of gpipe and 1f1b, timed exactly for p to 8, m to 32 and four sets of costs",
                    over_ideal_is_plain("gpipe") && over_ideal_is_plain("1f1b"), "(p−1)/m"),
          number("PP11", "1 - m/(m+n-1): (n-1)/(m+n-1)", over_total(stages, microbatches), "ratio",
                 std::abs(1 - microbatches / (microbatches + stages - 1) -
                          over_total(stages, microbatches)) < 1e-15
                     ? "1 − m/(m+n−1)"
                     : "does not hold"),
          number("PP12", "(p-1)(F+B-W) / (p-1)(F+B+W): Zero Bubble, section 2.1", zero_bubble,
                 "ratio", one_over(zero_bubble)),
          number("PP13", "most over stages k of min(m, p-k)", in_flight_1f1b(8, 32),
                 "micro-batches", in_flight_1f1b(8, 32) == stages ? "p 份" : "does not hold"),
          statement("PP14", "(p-1)(F+B)/v: Narayanan and others 2021, section 2.2.2",
                    "timed exactly, and messages counted: v-fold between the ends, for v = 2, 3, 4",
                    interleaved_divides_by_v("1f1b"), "气泡除以 v"),
          number("PP15", "stages of a device of dualpipe over 1f1b's: DeepSeek-V3 report, table 2",
                 copies, "copies", copies == 2 ? "两份" : fixed(copies, 0)),
          number("PP16", "V h / (text body / L)", head, "layers", fixed(head, 1) + " 层")};
}

}  // namespace ringside
