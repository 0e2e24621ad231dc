#include "runtime/rank_names.hpp"

namespace ringside {

std::string ranges_of(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t first = i;
    while (i + 1 < numbers.size() && numbers[i + 1] == numbers[i] + 1) {
      ++i;
    }
    text += (first > 0 ? ", " : "") + std::to_string(numbers[first]);
    if (i > first) {
      text += "-" + std::to_string(numbers[i]);
    }
  }
  return text;
}

std::string names_of(const std::vector<int>& ranks) {
  return (ranks.size() == 1 ? "rank " : "ranks ") + ranges_of(ranks);
}

}  // namespace ringside
