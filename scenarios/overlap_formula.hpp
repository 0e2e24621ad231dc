// Formulas of the modelled time of a data-parallel step at true scale, from the settings alone:
// what forward, backward and the ring all-reduce of the gradients take, and how much of the
// all-reduce backward does not hide. They know nothing of the run, and round as it does: each
// charge and each message up to a picosecond.
#pragma once

#include <cstdint>
#include <optional>

#include "parallel/buckets.hpp"
#include "runtime/topology.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

struct OverlapFormula {
  Time forward{0};
  Time backward{0};
  Time all_reduce{0};  // of all buckets, one after the other
  // From the end of backward to the last gradient. A bucket leaves when backward has filled it and
  // the one before it is through; without dp.overlap, all leave when backward has ended.
  Time exposed{0};
  Time last_bucket{0};  // part of all_reduce: it leaves when backward has ended, whatever overlaps
};

// Of a published model without accumulation and recompute, with the same number of samples on each
// rank, over one link.
OverlapFormula overlap_formula(const Settings& settings, const Link& link);

// The link of every hop of a ring over all ranks; none where some hops leave the machine and some
// do not.
std::optional<Link> only_link(const Settings& settings);

// 2(p-1) steps of latency + chunk / bandwidth (Patarasuk and Yuan 2009).
Time ring_time(const Settings& settings, const Bucket& bucket, const Link& link);

// Multiplications a token forward, by costs.account; backward has twice as many. N' of the
// chapter's account.
std::int64_t products_of_token(const Settings& settings);

// Tokens of a rank whose backward, 4 products tokens / flops, is the first to last as long as the
// all-reduce.
std::int64_t tokens_to_hide(const Settings& settings, Time all_reduce);

}  // namespace ringside
