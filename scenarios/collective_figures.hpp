// The figures of a measured case that are computed, not measured.
#pragma once

#include "scenarios/collective_report.hpp"

namespace ringside {

// Time and the bandwidths that follow from it, in GB/s.
struct Rates {
  double seconds = 0;
  double algbw = 0;
  double busbw = 0;
};

Rates modelled_rates(const CollectiveReport& report, const CollectiveCase& what,
                     const Measurement& m);
Rates wall_rates(const CollectiveReport& report, const CollectiveCase& what, const Measurement& m);

// What the algorithm's row claims of one call.
struct Claim {
  int steps = 0;
  std::int64_t most_bytes = 0;  // sent by the rank that sends most
  std::int64_t all_bytes = 0;
};

Claim claim_of(const CollectiveReport& report, const CollectiveCase& what);

// Over all rows and placements, as nccl-tests' footer.
struct Averages {
  double modelled_busbw = 0;
  double wall_busbw = 0;
  std::int64_t wrong = 0;
};

Averages averages_of(const CollectiveReport& report);

}  // namespace ringside
