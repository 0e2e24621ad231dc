// Section public: figures of the papers that the chapter quotes.
#include <spdlog/fmt/fmt.h>

#include "scenarios/figure_sections.hpp"
#include "scenarios/schedule_experiments.hpp"

namespace ringside {

namespace {

// ZeRO, figure 1: 7.5 billion parameters on 64 cards.
std::vector<Figure> zero_figure_1() {
  constexpr double psi = 7.5e9;
  constexpr double n = 64;
  const double stage1 = (weight_bytes + gradient_element_bytes) * psi + optimizer_bytes * psi / n;
  const double stage2 = weight_bytes * psi + (gradient_element_bytes + optimizer_bytes) * psi / n;
  return {number("PU01", "16 psi", state_bytes * psi, "B", gigabytes(state_bytes * psi, 0)),
          number("PU02", "4 psi + 12 psi/N", stage1, "B", gigabytes(stage1)),
          number("PU03", "2 psi + 14 psi/N", stage2, "B", gigabytes(stage2)),
          number("PU04", "16 psi/N", state_bytes * psi / n, "B", gigabytes(state_bytes * psi / n))};
}

std::vector<Figure> megatron_and_pipelines() {
  const double efficiency = 15.1e15 / (512 * 39e12);
  const double of_peak = 502e15 / (3072 * 312e12);
  const double gpipe = 7.0 / (32 + 7);
  return {quoted("PU05", "Megatron-LM 2019, abstract"),
          number("PU06", "8-way model x 64-way data", 8 * 64, "cards", fixed(8 * 64, 0) + " 卡"),
          quoted("PU07", "Megatron-LM 2019, abstract"),
          number("PU08", "15.1 PFLOP/s / (512 39 TFLOP/s)", efficiency, "ratio",
                 percent(efficiency, 0)),
          quoted("PU09", "Narayanan and others 2021, abstract"),
          quoted("PU10", "Narayanan and others 2021, abstract"),
          number("PU11", "502 PFLOP/s / (3072 312 TFLOP/s)", of_peak, "ratio", percent(of_peak, 0)),
          statement("PU12", "(K-1)/(M+K-1): Huang and others 2019, GPipe, section 2.2",
                    "of gpipe, timed exactly for K to 8, M to 32 and four sets of costs",
                    over_total_is_plain("gpipe"), "O((K−1)/(M+K−1))"),
          given("PU13", "GPipe, section 2.2; here (K-1)/(M+K-1) at K = 8, M = 4K", gpipe, "ratio"),
          quoted("PU14", "Zero Bubble, abstract"),
          quoted("PU15", "Zero Bubble, abstract"),
          given("PU16", "PyTorch DDP paper, section 5.2", 25e6, "B"),
          quoted("PU19", "Korthikanti and others 2022, abstract"),
          quoted("PU20", "GShard, abstract")};
}

// Of the layer's parts, s b h (11 + 19 + 4) and the scores 5 a s^2 b.
bool layer_parts_add_up() {
  bool holds = true;
  for (const double s : {1024.0, 2048.0}) {
    for (const double h : {1024.0, 20'480.0}) {
      const double a = 16;
      const double parts = s * h * 11 + 5 * a * s * s + s * h * 19 + s * h * 4;
      holds = holds && parts == s * h * (layer_activation_bytes + 5 * a * s / h);
    }
  }
  return holds;
}

// DeepSeek-V3's bubbles, beside the schedule as it is timed here.
Figure of_table_2(std::string id, const std::string& formula, double bubble,
                  std::string_view schedule) {
  Figure figure = number(std::move(id), formula + ": table 2", bubble, "chunk units", "表 2");
  figure.property = fmt::format("of {}, timed exactly: {}", schedule, bubble_of(schedule, 8, 32));
  figure.holds = bubble_of(schedule, 8, 32) == bubble;
  return figure;
}

std::vector<Figure> activations_and_deepseek() {
  const double t = 8, s = 2048, h = 20'480, a = 128;  // the 530B model
  const double with_both = (layer_activation_bytes / t) / (10 + 24 / t + 5 * a * s / (h * t));
  const double hours = 180 * 14.8;
  constexpr double pp = 8, forward = 1, backward = 2, weight = 1;  // backward: whole
  const double both = forward + backward;
  return {
      statement("PU17", "Korthikanti and others 2022, section 4.1",
                "attention 11 sbh + 5 a s^2 b, MLP 19 sbh, norms 4 sbh add up to it",
                layer_parts_add_up(), "sbh(34 + 5as/h)"),
      number("PU18", "(34/t) / (10 + 24/t + 5 a s/(h t))", with_both, "ratio", one_over(with_both)),
      quoted("PU21", "DeepSeek-V3 report, section 3.1"),
      number("PU22", "180K hours a trillion tokens x 14.8T", hours, "K GPU hours",
             grouped(hours) + "K"),
      quoted("PU23", "DeepSeek-V3 report, section 3.2"),
      of_table_2("PU24", "(PP-1)(F+B)", (pp - 1) * (forward + backward), "1f1b"),
      of_table_2("PU25", "(PP-1)(F+B-2W)", (pp - 1) * (forward + backward - 2 * weight), "zb_h1"),
      of_table_2("PU26", "(PP/2-1)(F&B+B-3W)", (pp / 2 - 1) * (both + backward - 3 * weight),
                 "dualpipe")};
}

Figure counted(std::string id, const PublishedModel& model, std::size_t elements,
               std::string shown) {
  return number(std::move(id), "sum of the tensors of " + model.config.name,
                static_cast<double>(elements), "params", std::move(shown));
}

// Llama 3, table 4: TP x CP x PP x DP, and the GPUs that its first column says.
Figure llama_row(std::string id, double tp, double cp, double pp, double dp, double published) {
  const double gpus = tp * cp * pp * dp;
  Figure figure =
      number(std::move(id), fmt::format("{} {} {} {}: Llama 3, table 4", tp, cp, pp, dp), gpus,
             "GPUs", grouped(gpus));
  figure.property = fmt::format("published: {}", grouped(published));
  figure.holds = gpus == published;
  return figure;
}

// Without what predicts further tokens; published as 671B.
Figure main_model_of_deepseek(const PublishedModel& model) {
  const std::size_t without = model.count() - model.count("mtp") - model.count("mtp_shared_copy");
  const std::string shown = fixed(static_cast<double>(without) / 1e9, 0) + "B";
  Figure figure = counted("PU35", model, without, shown);
  figure.property = "published: 671B";
  figure.holds = shown == "671B";
  return figure;
}

std::vector<Figure> llama_and_sizes(const FigureInputs& in) {
  const PublishedModel& llama = in.llama;
  const PublishedModel& qwen = in.qwen;
  const PublishedModel& deepseek = in.deepseek;
  return {
      given("PU27", "Llama 3, table 4: its largest product", 8 * 1 * 16 * 128, "GPUs"),
      counted("PU28", llama, llama.count(), std::to_string(llama.count() / 1'000'000'000) + "B"),
      llama_row("PU29", 8, 1, 16, 64, 8192),
      llama_row("PU30", 8, 1, 16, 128, 16384),
      llama_row("PU31", 8, 16, 16, 8, 16384),
      quoted("PU32", "Llama 3, table 4"),
      quoted("PU33", "the rule itself: 2 ND forward, 4 ND backward"),
      counted("PU34", qwen, qwen.count(),
              "Qwen3-" + std::to_string(qwen.count() / 1'000'000'000) + "B"),
      main_model_of_deepseek(deepseek),
      quoted("PU36", "the chapter's advice")};
}

}  // namespace

std::vector<Figure> public_figures(const FigureInputs& in) {
  std::vector<Figure> all = zero_figure_1();
  for (const auto& part :
       {megatron_and_pipelines(), activations_and_deepseek(), llama_and_sizes(in)}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace ringside
