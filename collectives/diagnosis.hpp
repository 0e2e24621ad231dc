// Why an element is wrong: what it holds, what it should, whose part is missing, twice or foreign,
// and in which step of which rank that happened.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "collectives/symbolic_run.hpp"

namespace ringside {

enum class FaultKind : std::uint8_t {
  missing,    // ranks whose part is not in
  twice,      // ranks whose part is in more than once
  foreign,    // parts that belong elsewhere, or to another element
  misplaced,  // a whole other element
  stale,      // finished elsewhere, and never brought here
  unwritten,  // memory that nobody has written
  mislaid,    // a wrong divisor of an average
  operation,  // another reduction than the call's
  order       // another order of additions than on the other ranks
};

std::string_view name_of(FaultKind kind);

struct Diagnosis {
  FaultKind kind = FaultKind::missing;
  int rank = 0;  // that ends with the wrong element
  std::size_t element = 0;
  int chunk = 0;
  int step = 0;  // in which it went wrong, as `at_rank` counts its steps
  int at_rank = 0;
  std::vector<int> ranks{};  // missing, twice, or whose the foreign parts are
  std::string held{};
  std::string expected{};
  std::string story{};  // one sentence: what happened in that step

  std::string text() const;
};

// The call of a job with `history`; nothing when the element is right. `slot`: its place among the
// watched elements, where not all were.
std::optional<Diagnosis> diagnose(const SymbolicRun& run, const Expressions& expressions,
                                  const CollectiveCall& call, std::size_t index_of_call, int rank,
                                  std::size_t element,
                                  std::optional<std::size_t> slot = std::nullopt);

// Whether what a rank holds is what the definition requires; cheap, without a reason.
bool holds_required(const Expressions& expressions, const CollectiveCall& call, int ranks, int rank,
                    std::size_t element, Symbol held);

}  // namespace ringside
