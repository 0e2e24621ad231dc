// Which elements of a collective's result are not what they must be.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "scenarios/operation_convention.hpp"
#include "scenarios/worst.hpp"

namespace ringside {

struct WrongElement {
  std::size_t element = 0;  // of the whole buffer
  double got = 0;
  double expected = 0;
};

struct WrongElements {
  std::size_t count = 0;
  std::optional<WrongElement> first{};

  // Those of a part that begins at element `from` of the whole buffer.
  void add(const WrongElements& part, std::size_t from);
};

// As the sentence of what broke has it; `what` names the call.
Worst worst_of(const std::string& what, Placement placement, int rank, const WrongElement& wrong);

}  // namespace ringside
