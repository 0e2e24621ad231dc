// Which published model is meant by a name or the path of a config.json, for every verb alike.
#pragma once

#include <string>

#include "models/published_config.hpp"

namespace ringside {

// One of models/configs, or a file, which ends in .json. Throws BadUse beginning with `where` for a
// name that does not exist, and what read_published_config does.
PublishedConfig chosen_config(const std::string& where, const std::string& name);

}  // namespace ringside
