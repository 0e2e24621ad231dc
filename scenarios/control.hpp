// The verdict on a deliberate fault: a gate that it passes is no gate.
#pragma once

#include <string_view>

#include "scenarios/check.hpp"

namespace ringside {

// What a fault that changed nothing at all says in a run that the command line has changed; in one
// as it was, such a control is not caught.
inline constexpr std::string_view changed_nothing_here =
    "with the settings as changed, the fault changes no bit of the run";

// Row "control.<name>": the gate that the fault breaks first in the table's order, with what it
// measured; not one that the run without a fault breaks too. Both tables have the same gates.
Check judge_control(std::string_view name, const Checks& gates, const Checks& without_fault);

// The row of a fault for which there is nothing to touch, and why.
Check control_changes_nothing(std::string_view name, std::string_view reason = {});

}  // namespace ringside
