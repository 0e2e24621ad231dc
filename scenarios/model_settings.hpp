// The model that a scenario's settings describe.
#pragma once

#include <cstddef>
#include <string>

#include "models/model_config.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

ModelConfig model_of(const Settings& settings);

// Bytes before the predicted one that a row of a batch has: a GPT sees the others by attention.
std::size_t context_of(const Settings& settings);

// Throws BadUse, with the numbers, for a model that cannot be made, or is too large to be trained
// here.
void check_model(const Settings& settings);

// "MLP", "GPT".
std::string kind_name(const Settings& settings);

}  // namespace ringside
