// The one place that opens what a scenario names. What is read stays in Settings::files, where
// programs, formulas and checks find it.
#pragma once

#include <string_view>

#include "scenarios/settings.hpp"

namespace ringside {

// The published model and the schedule, which decide whether the scenario can run: resolve() has
// them read. What is there by its name already is not read again.
void read_plan_files(Settings& settings);

// The text, the checkpoint and the peer scenario, for a verb that trains, before it writes. A
// train.resume that is a folder of checkpoints becomes the one that was taken. Throws BadUse for
// what cannot be read, or is no checkpoint of this training.
void read_inputs(Settings& settings);

// What is learnt: the text of data.text, or the built-in one.
std::string_view text_of(const Settings& settings);

// The scenario of checks.peer.
const Settings& peer_of(const Settings& settings);

}  // namespace ringside
