// A number of things, as text: "1 step", "3 steps".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringside {

inline std::string plural(std::int64_t number, std::string_view thing) {
  return std::to_string(number) + " " + std::string(thing) + (number == 1 ? "" : "s");
}

}  // namespace ringside
