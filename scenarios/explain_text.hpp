// A told collective for the terminal.
#pragma once

#include <optional>
#include <string>

#include "scenarios/explain_story.hpp"
#include "scenarios/explain_values.hpp"

namespace ringside {

// All steps, or only one; then what the definition requires, and whether it holds.
std::string text_of(const Story& story, const ShownValues& values, std::optional<int> only);

// "all_reduce by ring: 4 ranks on 1 node, 4 elements, sum"
std::string heading_of(const Story& story);

// "step 3, across_reduce: 4 messages, 64 B", and what ranks count it as where that is another
// number.
std::string heading_of(const Story& story, std::size_t step);

// What the definition requires, and whether it holds: two lines or, where it does not, more.
std::string verdict_of(const Story& story);

}  // namespace ringside
