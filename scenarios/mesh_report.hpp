// What `mesh` prints of a plan: a grid, one rank's groups, its bytes and its bubble.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "scenarios/mesh_verb.hpp"

namespace ringside {

std::string mesh_text(const MeshRequest& request);
nlohmann::ordered_json mesh_json(const MeshRequest& request);

}  // namespace ringside
