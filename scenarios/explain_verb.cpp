#include "scenarios/explain_verb.hpp"

#include <spdlog/fmt/fmt.h>

#include <iostream>

#include "runtime/errors.hpp"
#include "runtime/files/text_file.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/explain_json.hpp"
#include "scenarios/explain_svg.hpp"
#include "scenarios/explain_text.hpp"
#include "scenarios/terminal.hpp"

namespace ringside {

namespace {

// How many steps there are is known only after the run.
void check_step(const Story& story, const std::optional<int>& step) {
  const auto steps = static_cast<int>(story.numbered());
  if (!step || *step < steps || (story.steps.empty() && !story.fault.empty())) {
    return;
  }
  const auto& row = story.asked.row;
  throw BadUse(fmt::format("--step {}: {} by {} on {} rank{} has {}", *step, row.operation,
                           row.algorithm, story.asked.ranks, story.asked.ranks == 1 ? "" : "s",
                           steps == 0   ? "no steps"
                           : steps == 1 ? "step 0 only"
                                        : fmt::format("steps 0 to {}", steps - 1)));
}

void draw(const std::string& path, const Story& story, const ShownValues& values,
          std::optional<int> step) {
  TextFile file(path);
  file.write(svg_of(story, values, step));
  file.close();
}

}  // namespace

int explain_verb(const ExplainRequest& request) {
  const Story story = tell_story(request.call);
  check_step(story, request.step);
  const ShownValues values(story, request.values);
  if (!request.svg.empty()) {
    draw(request.svg, story, values, request.step);
  }
  if (request.json) {
    std::cout << json_text_of(story, values, request.step);
  } else {
    std::cout << text_of(story, values, request.step);
    if (!request.svg.empty()) {
      std::cout << "drawing: " << printable(request.svg) << '\n';
    }
  }
  if (story.died) {
    return failure_of(story.died).exit_code;
  }
  return story.fault.empty() ? exit_ok : exit_check_failed;
}

}  // namespace ringside
