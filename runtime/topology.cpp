#include "runtime/topology.hpp"

namespace ringside {

std::string_view name_of(LinkClass link) {
  switch (link) {
    case LinkClass::nvlink:
      return "nvlink";
    case LinkClass::ib:
      return "ib";
    case LinkClass::self:
      return "self";
  }
  return "";
}

}  // namespace ringside
