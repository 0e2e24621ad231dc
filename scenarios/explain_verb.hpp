// `ringside explain`: a collective step by step: who sends which chunk to whom, what every rank
// then holds, and whether the end is what the definition requires.
#pragma once

#include <optional>
#include <string>

#include "scenarios/explain_story.hpp"
#include "scenarios/explain_values.hpp"

namespace ringside {

struct ExplainRequest {
  ExplainedCall call;
  ValueStyle values = ValueStyle::integers;
  std::optional<int> step{};  // only this one
  std::string svg{};          // a file to draw into; empty: none
  bool json = false;
};

// Exit code 0, or 1 when the algorithm does not do what the definition requires.
int explain_verb(const ExplainRequest& request);

}  // namespace ringside
