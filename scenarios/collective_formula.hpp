// The bytes of one collective of a scenario, by rank, from the settings alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "parallel/mesh.hpp"
#include "scenarios/settings.hpp"

namespace ringside {

// Sent and received, in bytes or elements.
struct Figures {
  std::int64_t sent = 0;
  std::optional<std::int64_t> received = 0;  // none: no formula is known

  Figures& operator+=(const Figures& other) {
    sent += other.sent;
    received =
        received && other.received ? std::optional(*received + *other.received) : std::nullopt;
    return *this;
  }

  Figures operator*(std::int64_t times) const {
    return {sent * times, received ? std::optional(*received * times) : std::nullopt};
  }
};

// The group of an axis, or a product of axes, that a rank belongs to; or another one, of these
// members.
struct AxisGroup {
  AxisGroup(const Settings& settings, const std::vector<Axis>& axes, int rank);
  AxisGroup(const Settings& settings, const std::vector<int>& members, int rank);

  // The `count` neighbours of this group among which this rank is: 0 to count - 1, and so on.
  AxisGroup neighbours(int count) const;

  int size = 1;
  int me = 0;
  std::vector<int> node_of{};
  bool several_nodes = false;
};

// Parameters by who holds the same: of a mixture, experts are spread over ep of the others' ranks.
enum class Held : std::uint8_t { dense, experts };

// Those that a model has.
std::vector<Held> parts_held(const Settings& settings);

// The ranks that hold the same, over which its gradients are summed.
AxisGroup holders_of(const Settings& settings, Held held, int rank);

// Elements that the rank sends and receives in an all-reduce of n elements of so many bytes in all.
// The published formulas for the two algorithms that have one; a row's own claim for others, whose
// received bytes then have no formula.
Figures all_reduce_elements(const Settings& settings, const AxisGroup& group, std::size_t n,
                            std::size_t bytes);

// The same of a reduce-scatter and an all-gather of n elements in all, n a multiple of the group's
// size. Whatever the algorithm, an all-gather brings each rank all chunks but its own, once.
Figures reduce_scatter_elements(const Settings& settings, const AxisGroup& group, std::size_t n,
                                std::size_t bytes);
Figures all_gather_elements(const Settings& settings, const AxisGroup& group, std::size_t n,
                            std::size_t bytes);

// Bytes of an element of the model.
std::int64_t element_of(const Settings& settings);

}  // namespace ringside
