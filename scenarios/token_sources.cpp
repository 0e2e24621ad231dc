#include "scenarios/token_sources.hpp"

#include <numeric>

#include "parallel/expert/token_places.hpp"
#include "scenarios/context_formula.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

int rank_at(const MeshShape& shape, int tp, int cp, int pp, int dp) {
  int rank = 0;
  for (const auto& [axis, place] :
       {std::pair{Axis::tp, tp}, {Axis::cp, cp}, {Axis::pp, pp}, {Axis::dp, dp}}) {
    rank = Mesh(shape, rank).rank_with(axis, place);
  }
  return rank;
}

}  // namespace

TokenSources token_sources(const Settings& s, const std::vector<std::size_t>& lengths, int device,
                           int dp) {
  const MeshShape shape = mesh_shape(s);
  const bool sequence = s.parallel.sp && shape.tp > 1;
  Sequences sequences{.lengths = lengths};
  std::size_t rows = std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  TokenPlaces places;
  TokenSources sources;
  sources.copies.assign(sequence ? 1 : static_cast<std::size_t>(shape.tp), std::vector<int>(rows));
  if (shape.cp > 1) {
    places.blocks.emplace(parse_context_layout(s.parallel.cp_layout), shape.cp);
    sequences.whole = lengths;
    rows = 0;
    for (const std::size_t length : lengths) {
      rows += rows_of_sample(s, length);
    }
  }
  sequences.positions.resize(rows);
  const std::size_t here = sequence ? (rows + static_cast<std::size_t>(shape.tp) - 1) /
                                          static_cast<std::size_t>(shape.tp)
                                    : rows;
  for (int cp = 0; cp < shape.cp; ++cp) {
    for (int tp = 0; tp < shape.tp; ++tp) {
      const int rank = rank_at(shape, tp, cp, device, dp);
      sources.ranks.push_back(rank);
      places.block_rank = cp;
      places.cut = sequence ? Cut{tp, shape.tp} : Cut{};
      const auto runs = places.of(here, &sequences);
      sources.runs_a_rank = static_cast<std::int64_t>(runs.size());
      auto& copy = sources.copies[sequence ? 0 : static_cast<std::size_t>(tp)];
      for (const TokenRun& run : runs) {
        std::fill_n(copy.begin() + static_cast<std::ptrdiff_t>(run.count > 0 ? run.place : 0),
                    run.count, rank);
      }
    }
  }
  return sources;
}

}  // namespace ringside
