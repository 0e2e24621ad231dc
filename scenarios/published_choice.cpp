#include "scenarios/published_choice.hpp"

#include <algorithm>

#include "runtime/errors.hpp"
#include "scenarios/near_miss.hpp"

namespace ringside {

PublishedConfig chosen_config(const std::string& where, const std::string& name) {
  if (name.ends_with(".json")) {
    return read_published_config(name);
  }
  const auto names = published_names();
  if (std::ranges::find(names, name) == names.end()) {
    throw BadUse(where + ": there is no such model" + did_you_mean(name, names) + " (take " +
                 joined(names) + ", or the path of a config.json, which ends in .json)");
  }
  return published_config(name);
}

}  // namespace ringside
