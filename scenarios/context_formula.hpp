// Formulas of context parallelism, by rank: all steps together, from the settings and the text
// alone. They know nothing of the run. (Liu et al. 2023, Ring Attention, section 3; Jacobs et al.
// 2023, DeepSpeed-Ulysses, section 3.)
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/collective_formula.hpp"

namespace ringside {

// Rows that each of `cp` ranks has of a sample, padding included.
std::size_t rows_of_sample(const Settings& settings, std::size_t length);

// Bytes under the layers' labels in the cp group: hops of keys and values and their gradients, or
// all-to-alls.
Figures context_formula(const Settings& settings, std::string_view text, int rank);
std::string context_formula_text(const Settings& settings);
// "ring_hop", "all_to_all".
std::string context_operation(const Settings& settings);

// (query, key) of a sample that a rank computes, where tokens are cut over ranks.
std::int64_t pairs_of_sample(const std::string& layout, int ranks, int rank, std::size_t length);

// (query, key, head) that a rank computes in forward passes.
std::int64_t head_pairs_formula(const Settings& settings, std::string_view text, int rank);

}  // namespace ringside
