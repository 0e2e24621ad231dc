// The verb `list`: the scenarios that come with the program.
#pragma once

namespace ringside {

struct ListRequest {
  bool chinese = false;
  bool json = false;
};

// Prints name, ranks and lesson of each on stdout, by folder. A scenario that cannot be read is
// named on stderr and makes the exit code 2.
int list_verb(const ListRequest& request);

}  // namespace ringside
