// What `ringside collective` shows of its measurements: nccl-tests' columns and footer, with
// algorithm, steps, bytes on the wire and the modelled time beside the wall time's.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "scenarios/check.hpp"
#include "scenarios/collective_case.hpp"

namespace ringside {

struct CollectiveReport {
  CollectiveRequest request;
  std::vector<MeasuredCase> rows{};
};

// No element is wrong; what was sent is what the rows claim.
Checks checks_of(const CollectiveReport& report);

std::string collective_text(const CollectiveReport& report);
nlohmann::ordered_json collective_json(const CollectiveReport& report);

}  // namespace ringside
