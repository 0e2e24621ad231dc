// Section EP: the experts of DeepSeek-V3.
#include "scenarios/figure_sections.hpp"

namespace ringside {

std::vector<Figure> expert_parallel_figures(const FigureInputs& in) {
  constexpr double ways = 64;
  const PublishedModel& model = in.deepseek;
  const ExpertsConfig& experts = *model.config.experts;
  const double held = static_cast<double>(experts.routed) / ways;
  // By the config alone: the job counts the tensors.
  const std::size_t layers = model.config.layers - experts.dense_layers;
  const double parameters =
      static_cast<double>(layers * experts.routed * 3 * model.config.hidden * experts.ffn);
  const double bytes = in.bytes_per_element * parameters;
  const double nodes = static_cast<double>(experts.token_groups);
  const double ratio = in.ib() / in.nvlink();
  return {number("EP01", "experts/ep", held, "experts", fixed(held, 0) + " 个"),
          number("EP02", "58 layers, 256 experts, 3 h ffn", parameters, "params",
                 fixed(parameters / 1e9, 0) + "B"),
          number("EP03", "2 params", bytes, "B", fixed(bytes / 1e12, 2) + " TB"),
          number("EP04", "config: topk_group", nodes, "nodes", fixed(nodes, 0) + " 个节点"),
          number("EP05", "ep / 8", ways / in.ranks, "nodes", fixed(ways / in.ranks, 0) + " 节点"),
          number("EP06", "InfiniBand over NVLink, the defaults here", ratio, "ratio",
                 "约 " + one_over(ratio)),
          quoted("EP07", "DeepSeek-V3 report, section 3.2.1"),
          given("EP08", "by definition: dispatch and combine", 2, "all-to-alls"),
          given("EP09", "DeepSeek-V3 report, section 3.2; the default here", in.nvlink(), "B/s"),
          given("EP10", "DeepSeek-V3 report, section 3.2; the default here", in.ib(), "B/s")};
}

}  // namespace ringside
