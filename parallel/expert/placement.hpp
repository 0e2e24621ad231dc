// Which rank of an expert-parallel group holds which experts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringside {

// As many experts on each rank. Throws BadUse, with the numbers and the choices that would do, when
// the ranks do not divide the experts.
class Placement {
 public:
  // Neighbours together: rank r holds experts r * E/p … (r + 1) * E/p - 1.
  Placement(std::size_t experts, int ranks);

  // Placed anyhow: in an order drawn from `seed`.
  static Placement random(std::size_t experts, int ranks, std::uint64_t seed);

  // By rank: those of rank 0 first.
  const std::vector<std::size_t>& order() const { return order_; }

  std::size_t experts() const { return order_.size(); }

  int ranks() const { return ranks_; }

  std::size_t experts_of_a_rank() const { return order_.size() / static_cast<std::size_t>(ranks_); }

  // In the order of the rank's rows.
  std::vector<std::size_t> experts_of(int rank) const;

  int rank_of(std::size_t expert) const;

 private:
  std::vector<std::size_t> order_;
  int ranks_;
};

}  // namespace ringside
