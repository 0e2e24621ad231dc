// What the definition of an operation requires, in one sentence.
#pragma once

#include <string>

#include "collectives/definition.hpp"

namespace ringside {

std::string definition_sentence(const CollectiveCall& call);

}  // namespace ringside
