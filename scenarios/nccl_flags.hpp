// Flags of published nccl-tests lines that `collective` has no use for, and what becomes of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "scenarios/flags.hpp"

namespace ringside {

struct NcclWords {
  std::optional<std::string> gpus, threads, aggregated, parallel_init, blocking, average, cycles,
      stream_null, graph, cpu_time, registered, timestamps, memory_report, unaligned, file;
};

void declare(Flags& flags, NcclWords& words);

// Throws BadUse for one that would change what is measured, with what to give instead; one that
// changes only how nccl-tests goes about it is taken, and changes nothing.
void check(const NcclWords& words);

// -g and -t as the number of ranks; none when neither is given. `ranks`: what --ranks says.
std::optional<std::string> ranks_of(const NcclWords& words,
                                    const std::optional<std::string>& ranks);

// "all_reduce_perf", as nccl-tests' program is called, is all_reduce.
std::string operation_named(std::string_view word);

}  // namespace ringside
