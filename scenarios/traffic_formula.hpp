// Formulas of the traffic of a scenario: bytes by rank, from the settings alone. They know nothing
// of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scenarios/settings.hpp"

namespace ringside {

struct Figures {
  std::int64_t sent = 0;
  std::optional<std::int64_t> received = 0;  // none: no formula is known

  Figures& operator+=(const Figures& other) {
    sent += other.sent;
    received =
        received && other.received ? std::optional(*received + *other.received) : std::nullopt;
    return *this;
  }

  Figures operator*(std::int64_t times) const {
    return {sent * times, received ? std::optional(*received * times) : std::nullopt};
  }
};

// All steps together. Gradients are all-reduced, or under ZeRO reduce-scattered; there parameters
// are all-gathered, once after the update, or for every forward and backward of a layer that
// computes with them (stage 3).
Figures gradient_formula(const Settings& settings, int rank);
Figures parameter_formula(const Settings& settings, int rank);
// Of the initial weights.
Figures weight_formula(const Settings& settings, int rank);
// Of single numbers: loss, tokens, and under ZeRO the norm.
Figures number_formula(const Settings& settings, int rank);

// Of tensor parallelism. `seams`: all-reduces of [tokens, hidden] a micro-batch, 4 for a block;
// with sequence parallelism each is a reduce-scatter and an all-gather of the padded rows.
Figures seams_formula(const Settings& settings, std::string_view text, int rank, int seams);
// Three f64 a token.
Figures softmax_formula(const Settings& settings, std::string_view text, int rank);
// Gradients that ranks hold in parts, and the norm's 8 bytes a step.
Figures copies_formula(const Settings& settings, int rank);

// "all_reduce", "reduce_scatter".
std::string gradient_operation(const Settings& settings);
// What reports call them: "2(p-1)/p n".
std::string gradient_formula_text(const Settings& settings);
std::string parameter_formula_text(const Settings& settings);
std::string weight_formula_text(const Settings& settings);
std::string number_formula_text(const Settings& settings);
std::string number_labels(const Settings& settings);

}  // namespace ringside
