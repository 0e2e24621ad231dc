// What the program says about itself.
#pragma once

#include <string>
#include <vector>

namespace ringside {

// In the order in which a newcomer needs them.
std::vector<std::string> verb_names();

// One line on a verb.
std::string meaning_of(const std::string& verb);

// What follows the flags in the help of a verb.
std::string examples_of(const std::string& verb);

// `ringside --help`.
std::string help_text();

std::string version_text();

}  // namespace ringside
