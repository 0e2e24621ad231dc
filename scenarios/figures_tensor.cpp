// Section TP: Megatron-LM 2019, section 3; Korthikanti and others 2022.
#include <algorithm>

#include "scenarios/figure_experiments.hpp"
#include "scenarios/figure_sections.hpp"

namespace ringside {

namespace {

// Matrices of a full-attention layer of the anchor that are cut along a dimension: by inputs (1)
// each leaves a sum over ranks forward; those cut by outputs (0) leave one backward for each input.
int cut_by_inputs_in(const PublishedLayer& layer) {
  return static_cast<int>(
      std::count_if(layer.tensors.begin(), layer.tensors.end(),
                    [](const auto& tensor) { return tensor.split == 1 && tensor.products > 0; }));
}

const PublishedLayer& layer_named(const PublishedModel& model, std::string_view name) {
  return *std::find_if(model.layers.begin(), model.layers.end(),
                       [&](const auto& layer) { return layer.name == name; });
}

}  // namespace

std::vector<Figure> tensor_parallel_figures(const FigureInputs& in) {
  const int of_mlp = cut_by_inputs_in(layer_named(in.anchor, "layers.3.mlp"));
  const int forward = cut_by_inputs_in(layer_named(in.anchor, "layers.3.attention")) + of_mlp;
  const double t = in.ranks;
  const double message = in.tokens * in.hidden() * in.bytes_per_element;
  const double sent = 2 * forward * in.layers() * 2 * ring_pass(message, t);
  const double activations = layer_activation_bytes * in.tokens * in.hidden() * in.layers() / t;
  const double kv_heads = static_cast<double>(in.anchor.config.kv_heads);
  const double copies = std::max(1.0, t / kv_heads);
  const double right = column_row_difference(0);
  const double wrong = row_first_difference(0);
  Figure row_first = statement("TP08", "gelu on parts of sums, own weights",
                               "largest difference " + fixed(wrong, 2) + " > 0.1 on own weights",
                               wrong > 0.1, fixed(wrong, 1) + " (own weights)");
  row_first.comparable = false;
  return {number("TP01", "one all-reduce for each matrix cut by inputs, forward and backward",
                 2 * forward, "all-reduces/layer",
                 "前向 " + fixed(forward, 0) + " 次、反向 " + fixed(forward, 0) + " 次"),
          number("TP02", "matrices of an MLP that are cut by inputs", of_mlp, "all-reduce",
                 of_mlp == 1 ? "一次" : fixed(of_mlp, 0) + " 次"),
          number("TP03", "4 L 2 (t-1)/t tokens h 2", sent, "B", gigabytes(sent)),
          number("TP04", "34 s b h L / t", activations, "B", gigabytes(activations)),
          number("TP05", "config: num_key_value_heads", kv_heads, "heads",
                 fixed(kv_heads, 0) + " 个 KV 头"),
          number("TP06", "max(1, t / KV heads)", copies, "cards", fixed(copies, 0) + " 张卡"),
          statement("TP07", "A cut by columns, B by rows, f64",
                    "largest difference " + fixed(right * 1e15, 2) + "e-15 < 1e-12", right < 1e-12,
                    "< 10⁻¹²"),
          row_first,
          quoted("TP09", "a fixture of the course"),
          given("TP10", "chosen: cards of a machine, which NVLink joins", in.ranks, "cards")};
}

}  // namespace ringside
