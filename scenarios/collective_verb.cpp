#include "scenarios/collective_verb.hpp"

#include <iostream>

#include "scenarios/collective_job.hpp"
#include "scenarios/collective_report.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/terminal.hpp"

namespace ringside {

int collective_verb(const CollectiveRequest& request) {
  check_memory(request);
  Progress progress(std::cerr, stderr_rewrites_lines());
  const CollectiveReport report{
      .request = request,
      .rows = measure(request, [&](std::string_view what) { progress.show(what); })};
  progress.wipe();
  std::cout << (request.json ? printed_json(collective_json(report)) : collective_text(report));
  return all_hold(checks_of(report)) ? exit_ok : exit_check_failed;
}

}  // namespace ringside
