// The verb `list`: the scenarios that come with the program, and the checks that they run.
#pragma once

#include <string>

#include "scenarios/language.hpp"

namespace ringside {

struct ListRequest {
  std::string folder{};  // "dp": only its scenarios; empty: all
  bool checks = false;   // the checks in place of the scenarios
  Language language = Language::en;
  bool json = false;
};

// Prints name, ranks and lesson of each on stdout, by folder, in the order of the chapter. A
// scenario that cannot be read is named on stderr and makes the exit code 2. Throws BadUse for a
// folder that does not exist.
int list_verb(const ListRequest& request);

}  // namespace ringside
