// The checks that a scenario can ask for by name.
#pragma once

#include <span>
#include <string_view>

namespace ringside {

std::span<const std::string_view> check_names();

}  // namespace ringside
