#include "parallel/mesh.hpp"

#include <algorithm>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

using std::to_string;

std::string degrees(const MeshShape& shape) {
  std::string text;
  for (const Axis axis : all_axes) {
    if (shape.extent(axis) != 1) {
      text += (text.empty() ? "" : ", ") + std::string(name_of(axis)) + " = " +
              to_string(shape.extent(axis));
    }
  }
  return text.empty() ? "all degrees 1" : text;
}

void require_degrees(const MeshShape& shape) {
  for (const Axis axis : all_axes) {
    if (shape.extent(axis) < 1) {
      throw BadUse("a mesh needs degrees of at least 1: " + std::string(name_of(axis)) + " = " +
                   to_string(shape.extent(axis)));
    }
  }
}

void require_expert_degree(const MeshShape& shape, int ep) {
  const int ranks = shape.cp * shape.dp;
  if (ep >= 1 && ranks % ep == 0) {
    return;
  }
  std::string choices;
  for (int d = 1; d <= ranks; ++d) {
    if (ranks % d == 0) {
      choices += (choices.empty() ? "" : ", ") + to_string(d);
    }
  }
  throw BadUse("ep = " + to_string(ep) + " does not divide dp x cp = " + to_string(shape.dp) +
               " x " + to_string(shape.cp) + " = " + to_string(ranks) + ": ep may be " + choices);
}

// Of the ranks that differ in cp and dp alone, those whose index `same` takes for one with this
// rank's.
template <class Same>
std::vector<int> among_replicas(const Mesh& mesh, Same same) {
  const auto replicas = mesh.members({Axis::cp, Axis::dp});
  const int me = mesh.place_among({Axis::cp, Axis::dp});
  std::vector<int> members;
  for (int i = 0; i < static_cast<int>(replicas.size()); ++i) {
    if (same(i, me)) {
      members.push_back(replicas[static_cast<std::size_t>(i)]);
    }
  }
  return members;
}

}  // namespace

std::string_view name_of(Axis axis) {
  constexpr std::array<std::string_view, all_axes.size()> names{"tp", "cp", "pp", "dp"};
  return names[static_cast<std::size_t>(axis)];
}

int MeshShape::extent(Axis axis) const {
  return std::array{tp, cp, pp, dp}[static_cast<std::size_t>(axis)];
}

void require_usable(const MeshShape& shape, int ranks) {
  require_degrees(shape);
  parse_order(text_of(shape.order));
  if (shape.ranks() == ranks) {
    return;
  }
  const int inner = shape.tp * shape.cp * shape.pp;
  const int below = ranks / inner * inner;
  const std::string other = "take " + to_string(shape.ranks()) + " ranks";
  const std::string choices =
      ranks % inner == 0 ? "make dp " + to_string(ranks / inner) + ", or " + other
      : below > 0        ? other + ", or make dp " + to_string(below / inner) + " or " +
                        to_string(below / inner + 1) + " and take " + to_string(below) + " or " +
                        to_string(below + inner)
                  : other;
  throw BadUse("a mesh of " + degrees(shape) + " has " + to_string(shape.ranks()) +
               " places, but there are " + to_string(ranks) + " ranks: " + choices);
}

Mesh::Mesh(MeshShape shape, int rank) : shape_(shape), rank_(rank) {
  require_degrees(shape);
  if (rank < 0 || rank >= shape.ranks()) {
    throw BadUse("rank " + to_string(rank) + " is outside a mesh of " + degrees(shape) + ", " +
                 to_string(shape.ranks()) + " ranks");
  }
  for (const Axis axis : shape.order) {
    at_[static_cast<std::size_t>(axis)] = rank % shape.extent(axis);
    rank /= shape.extent(axis);
  }
}

int Mesh::place_among(const std::vector<Axis>& axes) const {
  int place = 0;
  int stride = 1;
  for (const Axis axis : shape_.order) {
    if (std::ranges::find(axes, axis) != axes.end()) {
      place += stride * at(axis);
      stride *= shape_.extent(axis);
    }
  }
  return place;
}

int Mesh::rank_with(Axis wanted, int place) const {
  int stride = 1;
  for (const Axis axis : shape_.order) {
    if (axis == wanted) {
      break;
    }
    stride *= shape_.extent(axis);
  }
  return rank_ + stride * (place - at(wanted));
}

std::vector<int> Mesh::members(std::vector<Axis> axes) const {
  std::vector<int> members;
  for (int r = 0; r < shape_.ranks(); ++r) {
    const Mesh other(shape_, r);
    if (std::ranges::all_of(all_axes, [&](Axis axis) {
          return other.at(axis) == at(axis) || std::ranges::find(axes, axis) != axes.end();
        })) {
      members.push_back(r);
    }
  }
  return members;
}

std::vector<int> expert_group(const Mesh& mesh, int ep) {
  require_expert_degree(mesh.shape(), ep);
  return among_replicas(mesh, [=](int i, int me) { return i / ep == me / ep; });
}

std::vector<int> expert_data_group(const Mesh& mesh, int ep) {
  require_expert_degree(mesh.shape(), ep);
  return among_replicas(mesh, [=](int i, int me) { return i % ep == me % ep; });
}

}  // namespace ringside
