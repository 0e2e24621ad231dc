// Until the checks are there: their names.

#include <array>

#include "scenarios/checks.hpp"

namespace ringside {

std::span<const std::string_view> check_names() {
  static constexpr std::array<std::string_view, 10> names{
      "gradients", "f64",     "shards",   "adamw",        "replicas",
      "traffic",   "exposed", "one_node", "accumulation", "controls"};
  return names;
}

}  // namespace ringside
