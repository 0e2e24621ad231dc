// The first sentence of a failing report: what broke, and in which tensor, element, rank and step.
#pragma once

#include <optional>
#include <string>

#include "scenarios/check.hpp"
#include "scenarios/divergence.hpp"

namespace ringside {

// Of the checks that fail, that which says most of the cause: what is not finite, then where the
// additions leave their definition, then the earliest step. Empty: none fails.
std::string what_broke(const Checks& checks,
                       const std::optional<Divergence>& divergence = std::nullopt);

// That check; null: none fails.
const Check* nearest_to_the_cause(const Checks& checks);

// The same as a line of its own: "what broke: …"; empty when nothing did.
std::string what_broke_line(const std::string& what_broke);

}  // namespace ringside
