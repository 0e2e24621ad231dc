// A number of things, as text: "1 step", "3 steps", "2 micro-batches".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace ringside {

inline std::string plural(std::int64_t number, std::string_view thing,
                          std::string_view ending = "s") {
  return std::to_string(number) + " " + std::string(thing) + std::string(number == 1 ? "" : ending);
}

}  // namespace ringside
