// What the families of published models make of a config.json: which keys count, and what a key
// means that the file leaves out.
#pragma once

#include "models/published_config.hpp"
#include "models/published_config_section.hpp"

namespace ringside {

// Throws what ConfigSection does, and BadUse for a family that is not known, for an architecture
// with another head than a language model's, and for more than one layer that predicts. The
// config has no name yet.
PublishedConfig config_of(const ConfigSection& document);

}  // namespace ringside
