#include "scenarios/collective_figures.hpp"

#include <algorithm>

namespace ringside {
namespace {

Rates rates(const CollectiveReport& report, const CollectiveCase& what, double seconds) {
  const auto& convention = convention_of(report.request.operation);
  const double algbw = algorithm_bandwidth(what.bytes, seconds);
  return {seconds, algbw, bus_bandwidth(convention, report.request.settings.ranks, algbw)};
}

}  // namespace

Rates modelled_rates(const CollectiveReport& report, const CollectiveCase& what,
                     const Measurement& m) {
  return rates(report, what, static_cast<double>(m.modelled.count()) / 1e12);
}

Rates wall_rates(const CollectiveReport& report, const CollectiveCase& what, const Measurement& m) {
  return rates(report, what, m.wall_s);
}

Claim claim_of(const CollectiveReport& report, const CollectiveCase& what) {
  const int ranks = report.request.settings.ranks;
  // Averages of f16 travel as f32.
  const bool wide = report.request.dtype == DType::f16 && what.op == ReduceOp::avg;
  const auto size = static_cast<std::int64_t>(wide ? sizeof(float) : size_of(report.request.dtype));
  const Cluster cluster = cluster_of(report.request.settings);
  Shape shape{.p = ranks, .n = what.count, .root = report.request.root};
  for (int r = 0; r < ranks; ++r) {
    shape.node_of.push_back(cluster.node_of(r));
  }
  Claim claim{.steps = what.row->steps(shape)};
  for (shape.rank = 0; shape.rank < ranks; ++shape.rank) {
    const auto sent = size * static_cast<std::int64_t>(what.row->sent(shape));
    claim.most_bytes = std::max(claim.most_bytes, sent);
    claim.all_bytes += sent;
  }
  return claim;
}

Averages averages_of(const CollectiveReport& report) {
  Averages all;
  double figures = 0;
  for (const auto& row : report.rows) {
    for (const auto& m : row.placements) {
      all.modelled_busbw += modelled_rates(report, row.what, m).busbw;
      all.wall_busbw += wall_rates(report, row.what, m).busbw;
      all.wrong += m.wrong;
      figures += 1;
    }
  }
  all.modelled_busbw /= std::max(figures, 1.0);
  all.wall_busbw /= std::max(figures, 1.0);
  return all;
}

}  // namespace ringside
