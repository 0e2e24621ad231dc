#include <numeric>

#include "collectives/all_to_all.hpp"

namespace ringside {

Parts Parts::equal(Buffer data, int parts, const std::string& who) {
  const auto p = static_cast<std::size_t>(parts);
  if (data.count % p != 0) {
    throw BadUse(who + ": " + std::to_string(data.count) + " elements are not divisible by " +
                 std::to_string(p) + " ranks; give counts to all_to_all_v, or pad");
  }
  std::vector<std::size_t> firsts;
  for (std::size_t i = 0; i <= p; ++i) {
    firsts.push_back(i * (data.count / p));
  }
  Parts equal(data, std::move(firsts));
  equal.uniform_ = true;
  return equal;
}

Parts::Parts(Buffer data, std::span<const std::size_t> counts, const std::string& who)
    : data_(data), firsts_{0} {
  for (const std::size_t count : counts) {
    if (count > data.count - firsts_.back()) {
      throw BadUse(who + " are more than the " + std::to_string(data.count) +
                   " elements of the buffer");
    }
    firsts_.push_back(firsts_.back() + count);
  }
  if (firsts_.back() != data.count) {
    throw BadUse(who + " add up to " + std::to_string(firsts_.back()) + ", and the buffer has " +
                 std::to_string(data.count) + " elements");
  }
}

Buffer Parts::operator[](int part) const {
  const auto i = static_cast<std::size_t>(part);
  Buffer piece = data_.slice(firsts_[i], firsts_[i + 1] - firsts_[i]);
  piece.chunk = part;
  return piece;
}

}  // namespace ringside
