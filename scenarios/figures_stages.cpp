// Model state, traffic and layer inputs of the anchor under data parallelism and ZeRO, executed.
#include <spdlog/fmt/fmt.h>

#include <functional>

#include "scenarios/figures_executed.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

// One step with AdamW on a machine, a sample on each rank, a bucket for each layer.
TrainingOutcome step_of(const FigureInputs& in, int stage, std::string recompute) {
  Settings s;
  s.ranks = in.ranks;
  s.cluster.gpus_per_node = in.ranks;
  s.model.config = in.anchor.config.name;
  s.files.model = {s.model.config, std::make_shared<PublishedModel>(in.anchor)};
  s.model.sequence = static_cast<int>(in.tokens);
  s.parallel.zero = stage;
  s.parallel.recompute = std::move(recompute);
  s.dp.bucket = Bytes{4'000'000'000};
  s.dp.bucket_by = "layer";
  s.train = {.steps = 1, .optimizer = "adamw", .batch = in.ranks};
  return run_at_true_scale(s, {});
}

using OfRank = std::function<std::int64_t(const RankReport& report, const StepOutcome& step)>;

Executed executed(const TrainingOutcome& outcome, const OfRank& value, double unit,
                  std::string_view summed) {
  std::vector<std::int64_t> values;
  for (std::size_t r = 0; r < outcome.ranks.size(); ++r) {
    values.push_back(value(outcome.job.ranks[r].report, outcome.ranks[r].back()));
  }
  return over_ranks(values, unit, fmt::format("{}, mean of {} ranks", summed, values.size()));
}

std::int64_t state_of(const RankReport& /*report*/, const StepOutcome& step) {
  std::int64_t bytes = 0;
  for (const Category category : {Category::weights, Category::gradients, Category::master_weights,
                                  Category::optimizer_state}) {
    bytes += step.memory[static_cast<std::size_t>(category)];
  }
  return bytes;
}

std::int64_t sent_of(const RankReport& report, const StepOutcome& /*step*/) {
  std::int64_t bytes = 0;
  for (const auto& sum : report.sums) {
    const std::string_view label = sum.label;
    const bool bucket = label.starts_with("grad.bucket.") || label.starts_with("param.bucket.");
    bytes += bucket ? sum.sent_bytes : 0;
  }
  return bytes;
}

constexpr std::string_view state = "weights, gradients, masters and moments in the ledger";
constexpr std::string_view traffic = "labels grad.bucket.*, param.bucket.*: bytes sent";

// Beside it, layer inputs under full recompute: the chapter's plan for 8 cards.
std::map<std::string, Executed> executed_plan(const FigureInputs& in) {
  const auto outcome = step_of(in, 3, "full");
  const OfRank inputs = [](const RankReport& /*report*/, const StepOutcome& step) {
    return step.kept_of_blocks;
  };
  const OfRank both = [](const RankReport& report, const StepOutcome& step) {
    return state_of(report, step) + step.kept_of_blocks;
  };
  constexpr std::string_view kept = "activations that backward of the blocks gives back";
  return {{"ME01", executed(outcome, inputs, 1, kept)},
          {"ME02", executed(outcome, both, 1, fmt::format("{}; {}", state, kept))}};
}

}  // namespace

std::map<std::string, Executed> executed_stages(const FigureInputs& in) {
  const auto dp = step_of(in, 0, "none");
  const auto stage1 = step_of(in, 1, "none");
  const auto stage2 = step_of(in, 2, "none");
  const auto stage3 = step_of(in, 3, "none");
  const double of_dp = executed(dp, sent_of, 1, "").mean;
  const double pass = ring_pass(in.gradient_bytes(), in.ranks);
  const OfRank room = [&](const RankReport& report, const StepOutcome& step) {
    return static_cast<std::int64_t>(in.card_bytes) - state_of(report, step);
  };
  const OfRank more = [&](const RankReport& report, const StepOutcome& step) {
    return sent_of(report, step) - static_cast<std::int64_t>(of_dp);
  };
  const std::string beside = fmt::format("{}, over those of data parallelism", traffic);
  const std::string passes = fmt::format("{}, over (N-1)/N of the parameters", traffic);
  std::map<std::string, Executed> figures{
      {"DP03", executed(dp, state_of, 1, state)},
      {"DP19", executed(dp, state_of, state_bytes * in.parameters() / in.ranks,
                        fmt::format("{} of {} ranks, over 16 bytes a parameter", state, in.ranks))},
      {"PF01",
       executed(dp, state_of, in.parameters(), fmt::format("{}, over the parameters", state))},
      {"ZR01", executed(stage1, state_of, 1, state)},
      {"ZR02", executed(stage2, state_of, 1, state)},
      {"ZR03", executed(stage3, state_of, 1, state)},
      {"ZR04", executed(stage3, sent_of, 1, traffic)},
      {"ZR05", executed(stage3, sent_of, of_dp, beside)},
      {"ZR06", executed(stage3, more, of_dp, fmt::format("{}, what is more", beside))},
      {"ZR07", executed(stage1, sent_of, pass, passes)},
      {"ZR08", executed(stage3, sent_of, pass, passes)},
      {"ZR09", executed(stage3, room, 1, fmt::format("card without {}", state))}};
  figures.merge(executed_plan(in));
  return figures;
}

}  // namespace ringside
