// Formulas of what travels between the ranks that share a model, by rank: all steps together, from
// the settings and the text alone. (Shoeybi et al. 2019; Korthikanti et al. 2022, section 4.2.)
#pragma once

#include <string_view>

#include "scenarios/collective_formula.hpp"

namespace ringside {

// Bytes of all blocks: four all-reduces of [tokens, hidden] a block and micro-batch; with sequence
// parallelism each is a reduce-scatter and an all-gather of the padded rows. Of a published model:
// two for each of its attentions and MLPs.
Figures blocks_formula(const Settings& settings, std::string_view text, int rank);
// Two more, in the embedding and the head.
Figures ends_formula(const Settings& settings, std::string_view text, int rank);
// Three f64 a token.
Figures softmax_formula(const Settings& settings, std::string_view text, int rank);
// Gradients that ranks hold in parts, and the norm's 8 bytes a step.
Figures copies_formula(const Settings& settings, int rank);

}  // namespace ringside
