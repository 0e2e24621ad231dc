// Section ZeRO: Rajbhandari and others 2020, sections 5 and 7.
#include "scenarios/figure_sections.hpp"
#include "scenarios/operation_convention.hpp"

namespace ringside {

namespace {

// In buffers: what a rank sends of one, over (N-1)/N of it.
double passes(std::string_view operation) {
  const OperationRow& row = operation_row(operation, "ring");
  constexpr std::size_t n = 8000;
  return static_cast<double>(row.sent({.p = 8, .n = n})) / ring_pass(n, 8);
}

}  // namespace

std::vector<Figure> zero_figures(const FigureInputs& in) {
  const double psi = in.parameters();
  const double n = in.ranks;
  const double stage1 = (weight_bytes + gradient_element_bytes) * psi + optimizer_bytes * psi / n;
  const double stage2 = weight_bytes * psi + (gradient_element_bytes + optimizer_bytes) * psi / n;
  const double stage3 = state_bytes * psi / n;
  const double sent = 3 * ring_pass(in.gradient_bytes(), n);
  const double ratio = sent / (2 * ring_pass(in.gradient_bytes(), n));
  const double room = in.card_bytes - stage3;
  const double activations = layer_activation_bytes * in.tokens * in.hidden() * in.layers();
  const double reduced = passes("reduce_scatter");
  const double gathered = passes("all_gather");
  return {number("ZR01", "4 params + 12 params/N", stage1, "B", gigabytes(stage1)),
          number("ZR02", "2 params + 14 params/N", stage2, "B", gigabytes(stage2)),
          number("ZR03", "16 params/N", stage3, "B", gigabytes(stage3)),
          number("ZR04", "3 (N-1)/N 2 params: gathered twice, reduced once", sent, "B",
                 gigabytes(sent)),
          number("ZR05", "3 (N-1)/N over 2 (N-1)/N", ratio, "x", fixed(ratio, 1) + " 倍"),
          number("ZR06", "3/2 - 1", ratio - 1, "ratio", "多 " + percent(ratio - 1, 0)),
          number("ZR07", "reduce-scatter + all-gather, as ring claims them", reduced + gathered,
                 "psi", fixed(reduced + gathered, 0) + "Ψ"),
          number("ZR08", "reduce-scatter + 2 all-gathers", reduced + 2 * gathered, "psi",
                 fixed(reduced + 2 * gathered, 0) + "Ψ(" + fixed(ratio, 1) + " 倍)"),
          number("ZR09", "card - 16 params/N", room, "B", gigabytes(room)),
          number("ZR10", "34 s b h L: Korthikanti and others 2022, section 4.1", activations, "B",
                 gigabytes(activations)),
          statement("ZR11", "34 s b h L against card - 16 params/N",
                    gigabytes(activations) + " > " + gigabytes(room), activations > room, "放不进"),
          quoted("ZR12", "DeepSeek-V3 report, section 3.2")};
}

}  // namespace ringside
