// Section CP: ring attention over a long sequence, and how causal pairs fall on the cards.
#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include <algorithm>

#include "scenarios/figure_sections.hpp"

namespace ringside {

namespace {

// Pairs (query, key) with the key not after the query, of the queries of block `index` of `blocks`.
std::int64_t causal_pairs(std::int64_t tokens, int blocks, int index) {
  const std::int64_t width = tokens / blocks;
  const std::int64_t first = width * index;
  return width * first + width * (width + 1) / 2;
}

std::vector<std::int64_t> contiguous(std::int64_t tokens, int cards) {
  std::vector<std::int64_t> pairs;
  for (int card = 0; card < cards; ++card) {
    pairs.push_back(causal_pairs(tokens, cards, card));
  }
  return pairs;
}

// Block k together with block 2c-1-k of 2c.
std::vector<std::int64_t> zigzag(std::int64_t tokens, int cards) {
  std::vector<std::int64_t> pairs;
  for (int card = 0; card < cards; ++card) {
    pairs.push_back(causal_pairs(tokens, 2 * cards, card) +
                    causal_pairs(tokens, 2 * cards, 2 * cards - 1 - card));
  }
  return pairs;
}

// Over the first card's, rounded: what they come to for long sequences.
std::vector<std::int64_t> proportions(const std::vector<std::int64_t>& pairs) {
  std::vector<std::int64_t> rounded;
  for (const std::int64_t pair : pairs) {
    rounded.push_back((pair + pairs.front() / 2) / pairs.front());
  }
  return rounded;
}

std::string with_colons(const std::vector<std::int64_t>& values) {
  return fmt::format("{}", fmt::join(values, " : "));
}

}  // namespace

std::string contiguous_limit() {
  return with_colons(proportions(contiguous(4'000'000, 4)));
}

std::vector<Figure> context_parallel_figures(const FigureInputs& in) {
  const auto& config = in.anchor.config;
  const double cp = in.ranks;
  const double width = static_cast<double>(config.kv_heads * config.head_width);
  const double block = 2 * (in.long_sequence / cp) * width * in.bytes_per_element;
  const double inputs = in.long_sequence * in.hidden() * in.layers() * in.bytes_per_element;
  const auto even = zigzag(16, 4);
  return {
      given("CP01", "chosen: 2^17", in.long_sequence, "tokens"),
      number("CP02", "2 (s/cp) KV heads, width, 2 bytes", block, "B", gigabytes(block)),
      number("CP03", "cp - 1", cp - 1, "blocks", fixed(cp - 1, 0) + " 块"),
      number("CP04", "(cp-1) blocks: Ring Attention, section 3", (cp - 1) * block, "B",
             gigabytes((cp - 1) * block)),
      number("CP05", "s h L 2", inputs, "B", gigabytes(inputs)),
      statement("CP06", "sum of positions in each quarter of 16 tokens",
                "pairs " + with_colons(contiguous(16, 4)), true, with_colons(contiguous(16, 4))),
      statement("CP07", "block k and block 2cp-1-k of 2cp", "pairs " + with_colons(even),
                std::count(even.begin(), even.end(), even.front()) == 4, "每卡一样多"),
      statement("CP08", "2k-1 of card k for long sequences",
                "4,000,000 tokens, over the first card's, rounded", true, contiguous_limit())};
}

}  // namespace ringside
