#include "models/gpt_config.hpp"

#include "models/gpt_cut.hpp"

namespace ringside {

std::vector<std::vector<std::size_t>> tensor_counts(const GptConfig& c) {
  return tensor_counts(c, 1);
}

std::vector<std::vector<std::size_t>> tensor_counts(const GptConfig& c, int ranks) {
  const GptShare share = share_of(c, {.rank = 0, .ranks = ranks});
  const std::size_t table = share.vocab.count * c.hidden;
  const std::size_t q = c.hidden * share.heads.count * c.head_width();
  const std::size_t kv = c.hidden * share.kv_heads.count * c.head_width();
  const std::size_t mlp = c.hidden * share.ffn.count;
  std::vector<std::vector<std::size_t>> counts{{table}};
  std::vector<std::size_t> block{c.hidden, q, kv, kv, q, c.hidden};
  if (c.experts == 0) {
    block.insert(block.end(), 3, mlp);
  } else {
    block.push_back(c.hidden * c.experts);
    block.insert(block.end(), c.router.bias_rate > 0 ? 1 : 0, c.experts);
    block.insert(block.end(), 3 * c.experts, c.hidden * c.ffn);  // not cut
  }
  counts.insert(counts.end(), c.layers, block);
  counts.push_back({c.hidden});
  counts.emplace_back();
  if (!c.tied) {
    counts.back().push_back(table);
  }
  return counts;
}

}  // namespace ringside
