#include "scenarios/mesh_grid.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

#include "runtime/rank_names.hpp"
#include "scenarios/text_table.hpp"

namespace ringside {

namespace {

constexpr std::size_t most_lines = 64;
constexpr std::size_t lines_at_an_end = 8;
constexpr std::size_t most_ranks_named = 8;

std::vector<Axis> axes_in_use(const MeshShape& shape) {
  std::vector<Axis> axes;
  for (const Axis axis : shape.order) {
    if (shape.extent(axis) > 1) {
      axes.push_back(axis);
    }
  }
  return axes.empty() ? std::vector{Axis::tp} : axes;
}

std::string range(int first, int last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

}  // namespace

int expert_place(const Mesh& mesh, int ep) {
  return mesh.place_among({Axis::cp, Axis::dp}) % ep;
}

std::vector<GridLine> grid_lines(const MeshShape& shape, int ep, const Cluster& cluster) {
  const Axis inner = axes_in_use(shape).front();
  std::vector<GridLine> lines;
  for (int r = 0; r < shape.ranks(); ++r) {
    const Mesh mesh(shape, r);
    const int node = cluster.node_of(r);
    const bool new_experts =
        ep > 1 && r > 0 && expert_place(mesh, ep) < expert_place(Mesh(shape, r - 1), ep);
    if (lines.empty() || lines.back().node != node || mesh.at(inner) == 0 || new_experts) {
      lines.push_back({.node = node, .first = r, .last = r});
    }
    lines.back().last = r;
  }
  return lines;
}

std::string grid_text(const MeshShape& shape, int ep, const Cluster& cluster) {
  const auto axes = axes_in_use(shape);
  std::vector<TableColumn> columns{{.title = "node"}, {.title = "ranks"}};
  for (const Axis axis : axes) {
    columns.push_back({.title = std::string(name_of(axis))});
  }
  if (ep > 1) {
    columns.push_back({.title = "ep"});
  }
  TextTable table(columns);
  const auto lines = grid_lines(shape, ep, cluster);
  const std::size_t left_out = lines.size() > most_lines ? lines.size() - 2 * lines_at_an_end : 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (left_out > 0 && i == lines_at_an_end) {
      std::vector<std::string> dots(columns.size(), "…");
      table.add(dots);
      i += left_out;
    }
    const Mesh first(shape, lines[i].first);
    const Mesh last(shape, lines[i].last);
    std::vector<std::string> cells{std::to_string(lines[i].node),
                                   range(lines[i].first, lines[i].last)};
    for (const Axis axis : axes) {
      cells.push_back(range(first.at(axis), last.at(axis)));
    }
    if (ep > 1) {
      cells.push_back(range(expert_place(first, ep), expert_place(last, ep)));
    }
    table.add(cells);
  }
  return table.text() +
         (left_out > 0 ? fmt::format("  … {} lines are left out; --json has every rank\n", left_out)
                       : "");
}

std::string ranks_text(const std::vector<int>& ranks) {
  const std::string ranges = ranges_of(ranks);
  if (ranks.size() <= most_ranks_named || ranges.find(',') == std::string::npos) {
    return ranges;
  }
  return fmt::format("{}, {}, … {} ({})", ranks[0], ranks[1], ranks.back(), ranks.size());
}

}  // namespace ringside
