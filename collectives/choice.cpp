// What "auto" picks. A fixed table, never a measurement: bits and modelled times must not depend on
// the machine. docs/collectives.md explains the rows.
#include <algorithm>
#include <array>
#include <limits>

#include "collectives/algorithm.hpp"
#include "collectives/auto_rows.hpp"

namespace ringside {

namespace {

constexpr std::size_t any_size = std::numeric_limits<std::size_t>::max();

// The first row that fits is taken.
constexpr std::array rows{
    AutoRow{"all_reduce", false, 4096, "one_shot"},
    AutoRow{"all_reduce", false, any_size, "direct"},
    AutoRow{"all_reduce", true, 4096, "recursive_doubling"},
    AutoRow{"all_reduce", true, any_size, "hierarchical"},
    AutoRow{"reduce_scatter", false, any_size, "direct"},
    AutoRow{"reduce_scatter", true, any_size, "ring"},
    AutoRow{"all_gather", false, any_size, "direct"},
    AutoRow{"all_gather", true, 4096, "bruck"},
    AutoRow{"all_gather", true, any_size, "hierarchical"},
    AutoRow{"all_to_all", false, any_size, "direct"},
    AutoRow{"all_to_all", true, any_size, "hierarchical"},
    AutoRow{"broadcast", false, any_size, "binomial_tree"},
    AutoRow{"broadcast", true, any_size, "binomial_tree"},
    AutoRow{"reduce", false, any_size, "binomial_tree"},
    AutoRow{"reduce", true, any_size, "binomial_tree"},
    AutoRow{"gather", false, any_size, "linear"},
    AutoRow{"gather", true, any_size, "linear"},
    AutoRow{"scatter", false, any_size, "linear"},
    AutoRow{"scatter", true, any_size, "linear"},
    AutoRow{"barrier", false, any_size, "dissemination"},
    AutoRow{"barrier", true, any_size, "dissemination"},
};

bool spans_nodes(const Comm& comm) {
  for (int r = 1; r < comm.size(); ++r) {
    if (comm.node_of(r) != comm.node_of(0)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::span<const AutoRow> auto_rows() {
  return rows;
}

std::string_view chosen(std::string_view operation, std::string_view algorithm, const Comm& comm,
                        std::size_t bytes) {
  return algorithm == "auto" ? chosen(operation, algorithm, spans_nodes(comm), bytes) : algorithm;
}

std::string_view chosen(std::string_view operation, std::string_view algorithm, bool several_nodes,
                        std::size_t bytes) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const AutoRow& r) {
    return r.operation == operation && r.nodes == several_nodes && bytes <= r.up_to;
  });
  return algorithm != "auto" || row == rows.end() ? algorithm : row->algorithm;
}

Shape shape_of(const Comm& comm, std::size_t n, int root) {
  Shape shape{.p = comm.size(),
              .n = n,
              .rank = (comm.rank() - root + comm.size()) % comm.size(),
              .root = root};
  for (int r = 0; r < comm.size(); ++r) {
    shape.node_of.push_back(comm.node_of(r));
  }
  return shape;
}

}  // namespace ringside
