#include "scenarios/mesh_verb.hpp"

#include <iostream>

#include "scenarios/exit_codes.hpp"
#include "scenarios/mesh_report.hpp"

namespace ringside {

int mesh_verb(const MeshRequest& request) {
  if (request.json) {
    std::cout << mesh_json(request).dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << '\n';
  } else {
    std::cout << mesh_text(request);
  }
  return exit_ok;
}

}  // namespace ringside
