#include "collectives/power_of_two.hpp"

namespace ringside {

PowerOfTwo power_of_two(const Shape& s) {
  PowerOfTwo ranks;
  ranks.count = static_cast<int>(std::bit_floor(static_cast<unsigned>(s.p)));
  ranks.extra = s.p - ranks.count;
  if (s.rank >= 2 * ranks.extra) {
    ranks.mine = s.rank - ranks.extra;
  } else if (s.rank % 2 == 1) {
    ranks.mine = s.rank / 2;
  }
  return ranks;
}

std::size_t PowerOfTwo::sent_doubling(const Shape& s) const {
  const std::size_t unfold = s.rank < 2 * extra ? s.n : 0;
  return mine < 0 ? s.n : s.n * static_cast<std::size_t>(doublings()) + unfold;
}

std::size_t PowerOfTwo::sent_halving(const Shape& s) const {
  if (mine < 0) {
    return s.n;
  }
  std::size_t sent = s.n - chunk_of(s.n, count, mine).count;
  for (int size = 1; size < count; size *= 2) {
    for (int c = mine & -size; c < (mine & -size) + size; ++c) {
      sent += chunk_of(s.n, count, c).count;
    }
  }
  return sent + (s.rank < 2 * extra ? s.n : 0);
}

}  // namespace ringside
