// Sections mesh and pitfalls: products of dimensions, and what a card then holds.
#include <algorithm>

#include "scenarios/figure_sections.hpp"

namespace ringside {

std::vector<Figure> mesh_figures(const FigureInputs& in) {
  const double per_layer = in.tokens * in.hidden() * in.layers();
  const double inputs = in.bytes_per_element * per_layer;
  const double state = state_bytes * in.parameters() / in.ranks;
  const double full = state + inputs;
  const double selective = state + layer_activation_bytes * per_layer;
  const double llama = 8 * 1 * 16 * 128;
  return {number("ME01", "2 s b h L", inputs, "B", gigabytes(inputs)),
          number("ME02", "16 params/8 + 2 s b h L", full, "B",
                 full <= in.card_bytes ? "≤ " + gigabytes(in.card_bytes, 0) : "放不下"),
          number("ME03", "16 params/8 + 34 s b h L", selective, "B",
                 selective <= in.card_bytes ? "≤ " + gigabytes(in.card_bytes, 0) : "放不下"),
          number("ME04", "8 1 16 128: Llama 3, table 4", llama, "GPUs", grouped(llama) + " 张"),
          quoted("ME05", "Llama 3, table 4"),
          given("ME06", "by definition: GB is 10^9 bytes", 1e9, "B"),
          given("ME07", "chosen: 2^6", 64, "devices"),
          given("ME08", "DeepSeek-V3 report: 2048/16, 2 groups of EP 64", 128, "ranks"),
          given("ME09", "Llama 3: TP, CP, PP, DP", 4, "dims")};
}

std::vector<Figure> pitfall_figures(const FigureInputs& in) {
  const double share = 5.0 / 125;
  const double copies = std::max(1.0, in.ranks / static_cast<double>(in.anchor.config.kv_heads));
  const double bubble = 7.0 / (8 + 7);
  const double head = in.head() / (in.body() / in.layers());
  return {number("PF01", "2 + 2 + 4 + 4 + 4, on any number of cards", state_bytes, "B/param",
                 fixed(state_bytes, 0) + " 字节/参数"),
          quoted("PF02", "ZeRO, section 1"),
          number("PF03", "5 TFLOPS of a V100's 125", share, "ratio",
                 share < 0.05 ? "不到峰值 5%" : "does not hold"),
          number("PF04", "t / KV heads", copies, "copies", fixed(copies, 0)),
          number("PF05", "(p-1)/(m+p-1)", bubble, "ratio", percent(bubble, 1)),
          number("PF06", "V h / (text body / L)", head, "layers", fixed(head, 1) + " 层"),
          statement("PF07", "2k-1 of card k for long sequences",
                    "4,000,000 tokens, over the first card's, rounded", true, contiguous_limit())};
}

}  // namespace ringside
