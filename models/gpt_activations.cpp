#include "models/gpt_activations.hpp"

namespace ringside {

std::int64_t block_activations(const GptConfig& config, const std::vector<std::size_t>& lengths,
                               Cut cut) {
  const GptShare share = share_of(config, cut);
  std::size_t tokens = 0;
  std::size_t pairs = 0;
  for (const std::size_t length : lengths) {
    tokens += length;
    pairs += length * length;
  }
  std::size_t elements = tokens * config.hidden;  // the output
  if (config.recompute != Recompute::full) {
    const std::size_t norms_and_sum = 3 * config.hidden;
    const std::size_t heads = 2 * share.heads.count + 2 * share.kv_heads.count;  // q, mixed, k, v
    elements += tokens * (norms_and_sum + heads * config.head_width() + 2 * share.ffn.count);
  }
  if (config.recompute == Recompute::none) {
    elements += share.heads.count * pairs;
  }
  const std::size_t arithmetic = config.dtype == DType::f64 ? 8 : 4;
  return static_cast<std::int64_t>(elements * arithmetic);
}

}  // namespace ringside
