// A told collective as one JSON document.
#pragma once

#include <optional>
#include <string>

#include "scenarios/explain_story.hpp"
#include "scenarios/explain_values.hpp"

namespace ringside {

std::string json_text_of(const Story& story, const ShownValues& values, std::optional<int> only);

}  // namespace ringside
