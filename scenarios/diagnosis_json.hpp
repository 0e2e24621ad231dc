// A diagnosis as the verbs print it with --json.
#pragma once

#include <nlohmann/json.hpp>

#include "collectives/diagnosis.hpp"

namespace ringside {

inline nlohmann::ordered_json json_of(const Diagnosis& d) {
  return {{"kind", name_of(d.kind)}, {"rank", d.rank}, {"element", d.element},
          {"chunk", d.chunk},        {"step", d.step}, {"at_rank", d.at_rank},
          {"ranks", d.ranks},        {"held", d.held}, {"expected", d.expected},
          {"story", d.story}};
}

}  // namespace ringside
