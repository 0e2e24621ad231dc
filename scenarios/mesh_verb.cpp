#include "scenarios/mesh_verb.hpp"

#include <iostream>

#include "scenarios/exit_codes.hpp"
#include "scenarios/mesh_report.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/terminal.hpp"

namespace ringside {

int mesh_verb(const MeshRequest& request) {
  if (request.json) {
    std::cout << printed_json(mesh_json(request));
  } else {
    std::cout << printable(mesh_text(request));
  }
  return exit_ok;
}

}  // namespace ringside
