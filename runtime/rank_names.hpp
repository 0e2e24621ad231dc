// Ranks in words.
#pragma once

#include <string>
#include <vector>

namespace ringside {

// "0-2, 4-7" of ascending numbers.
std::string ranges_of(const std::vector<int>& numbers);

// "rank 3", "ranks 0-2, 4-7".
std::string names_of(const std::vector<int>& ranks);

}  // namespace ringside
