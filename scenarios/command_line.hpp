// The command line: finds the verb, runs it, and reports how it ended.
#pragma once

#include <string>
#include <vector>

namespace ringside {

// `words`: the arguments without the program's name. Returns an exit code of exit_codes.hpp; prints
// errors on stderr and, with --json, also as the one document on stdout. Never throws.
int command_line(const std::vector<std::string>& words);

}  // namespace ringside
