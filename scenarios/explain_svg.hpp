// A told collective as a drawing: a panel per step, the ranks in a ring with an arrow per message,
// and beside them what every rank holds.
#pragma once

#include <optional>
#include <string>

#include "scenarios/explain_story.hpp"
#include "scenarios/explain_values.hpp"

namespace ringside {

// A whole SVG document.
std::string svg_of(const Story& story, const ShownValues& values, std::optional<int> only);

}  // namespace ringside
