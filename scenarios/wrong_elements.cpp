#include "scenarios/wrong_elements.hpp"

#include <spdlog/fmt/fmt.h>

namespace ringside {

void WrongElements::add(const WrongElements& part, std::size_t from) {
  count += part.count;
  if (part.first && (!first || from + part.first->element < first->element)) {
    first = part.first;
    first->element += from;
  }
}

Worst worst_of(const std::string& what, Placement placement, int rank, const WrongElement& wrong) {
  return {.what = fmt::format("result of {} {}", what, name_of(placement)),
          .element = wrong.element,
          .rank = rank,
          .run = wrong.got,
          .reference = wrong.expected,
          .judge = "by definition",
          .cause = "`ringside prove` tells in which step that happens"};
}

}  // namespace ringside
