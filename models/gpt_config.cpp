#include "models/gpt_config.hpp"

namespace ringside {

std::vector<std::vector<std::size_t>> tensor_counts(const GptConfig& c) {
  const std::size_t table = c.vocab * c.hidden;
  const std::size_t q = c.hidden * c.heads * c.head_width();
  const std::size_t kv = c.hidden * c.kv_heads * c.head_width();
  const std::size_t mlp = c.hidden * c.ffn;
  std::vector<std::vector<std::size_t>> counts{{table}};
  for (std::size_t i = 0; i < c.layers; ++i) {
    counts.push_back({c.hidden, q, kv, kv, q, c.hidden, mlp, mlp, mlp});
  }
  counts.push_back({c.hidden});
  counts.emplace_back();
  if (!c.tied) {
    counts.back().push_back(table);
  }
  return counts;
}

}  // namespace ringside
