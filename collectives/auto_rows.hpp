// The table behind "auto", for whoever shows or tests it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace ringside {

struct AutoRow {
  std::string_view operation;
  bool nodes;         // whether the group spans several
  std::size_t up_to;  // bytes of the whole buffer
  std::string_view algorithm;
};

std::span<const AutoRow> auto_rows();

}  // namespace ringside
