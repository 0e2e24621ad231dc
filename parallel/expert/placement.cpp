#include "parallel/expert/placement.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "models/random.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

std::string divisors(std::size_t value) {
  std::string list;
  for (std::size_t d = 1; d <= value; ++d) {
    if (value % d == 0) {
      list += (list.empty() ? "" : ", ") + std::to_string(d);
    }
  }
  return list;
}

}  // namespace

Placement::Placement(std::size_t experts, int ranks) : order_(experts), ranks_(ranks) {
  if (ranks < 1 || experts % static_cast<std::size_t>(ranks) != 0) {
    throw BadUse("experts = " + std::to_string(experts) + " cannot be divided over ep = " +
                 std::to_string(ranks) + " ranks: ep may be " + divisors(experts));
  }
  std::iota(order_.begin(), order_.end(), std::size_t{0});
}

Placement Placement::random(std::size_t experts, int ranks, std::uint64_t seed) {
  Placement placement(experts, ranks);
  std::ranges::sort(placement.order_, {}, [&](std::size_t e) { return mix(mix(seed) + e); });
  return placement;
}

std::vector<std::size_t> Placement::experts_of(int rank) const {
  const auto first = order_.begin() + rank * static_cast<std::ptrdiff_t>(experts_of_a_rank());
  return {first, first + static_cast<std::ptrdiff_t>(experts_of_a_rank())};
}

int Placement::rank_of(std::size_t expert) const {
  const auto place = std::ranges::find(order_, expert) - order_.begin();
  return static_cast<int>(static_cast<std::size_t>(place) / experts_of_a_rank());
}

}  // namespace ringside
