// A JSON document as it is printed and written: indented, whatever bytes are in it, and safe on a
// terminal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "runtime/json_text.hpp"

namespace ringside {

template <class Json>
std::string printed_json(const Json& document) {
  return json_for_terminal(document.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n";
}

}  // namespace ringside
