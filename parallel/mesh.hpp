// The ranks of a job as a mesh of named axes, by default inner to outer tp, cp, pp, dp (Llama 3,
// section 3.3.2): neighbours in the inner axes talk most, so they get the fastest links. Another
// order puts other groups into a machine (DeepSeek-V3: dp inside pp).
//
// A value: coordinates and groups follow from shape and order alone, without a word exchanged.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {

enum class Axis : std::uint8_t { tp, cp, pp, dp };

inline constexpr std::array all_axes{Axis::tp, Axis::cp, Axis::pp, Axis::dp};
std::string_view name_of(Axis axis);

using AxisOrder = std::array<Axis, all_axes.size()>;  // from inner to outer

// "tp-cp-dp-pp", as Megatron writes it; commas and blanks part the names too. Throws BadUse, with
// what is wrong and the nearest order, unless it has every axis once.
AxisOrder parse_order(std::string_view text);
std::string text_of(const AxisOrder& order);

struct MeshShape {
  int tp = 1;
  int cp = 1;
  int pp = 1;
  int dp = 1;
  AxisOrder order = all_axes;

  int extent(Axis axis) const;

  int ranks() const { return tp * cp * pp * dp; }

  bool operator==(const MeshShape&) const = default;
};

// Throws BadUse, with the numbers and the nearest choices that would do, for a degree below 1, and
// for degrees whose product is not the number of ranks; and for an order that lacks an axis.
void require_usable(const MeshShape& shape, int ranks);

class Mesh {
 public:
  // As rank `rank` sees it. Throws BadUse when it is outside the shape, or a degree is below 1.
  Mesh(MeshShape shape, int rank);

  const MeshShape& shape() const { return shape_; }

  // This rank's place on an axis.
  int at(Axis axis) const { return at_[static_cast<std::size_t>(axis)]; }

  // The world rank that has this one's place on all axes but `axis`, and there `place`.
  int rank_with(Axis axis, int place) const;

  // World ranks that differ from this one in these axes only, in mesh order; this one is among
  // them.
  std::vector<int> members(std::vector<Axis> axes) const;

  // This rank's place among them.
  int place_among(const std::vector<Axis>& axes) const;

 private:
  MeshShape shape_;
  int rank_;
  std::array<int, all_axes.size()> at_{};
};

// Expert parallelism divides dp x cp and is no axis: `ep` neighbours, in the mesh's order, among
// the ranks that differ in cp and dp alone have all experts between them. World ranks in mesh
// order, this one among them. Both throw BadUse, with the numbers and the choices that would do,
// unless `ep` divides dp x cp.
std::vector<int> expert_group(const Mesh& mesh, int ep);
// Those of dp x cp with the same place in their expert groups: they have the same experts.
std::vector<int> expert_data_group(const Mesh& mesh, int ep);

}  // namespace ringside
