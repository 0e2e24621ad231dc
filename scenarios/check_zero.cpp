// ZeRO: the bits of data parallelism, and what each rank holds of the model's state.
#include <algorithm>
#include <array>
#include <numeric>

#include "parallel/shard_map.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/collective_formula.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

Check without_zero(std::string name, std::string gate) {
  return {.name = std::move(name),
          .measured = "parallel.zero = 0",
          .gate = std::move(gate),
          .verdict = CheckVerdict::not_applicable};
}

// The same training as data parallelism with the same reductions.
Settings as_data_parallelism(Settings s) {
  s.dp.sync_every_microbatch = reductions_of(s) > 1;
  s.collectives.all_reduce = gradient_algorithm(s);
  s.parallel.zero = 0;
  return s;
}

std::string zero_bits_seen(const TrainingOutcome& zero, const TrainingOutcome& dp) {
  for (std::size_t step = 0; step < zero.ranks.front().size(); ++step) {
    for (std::size_t r = 0; r < zero.ranks.size(); ++r) {
      const StepOutcome& mine = zero.ranks[r][step];
      const StepOutcome& theirs = dp.ranks[r][step];
      if (mine.shard_gradient_hash != theirs.shard_gradient_hash ||
          mine.shard_parameter_hash != theirs.shard_parameter_hash) {
        return "rank " + std::to_string(r) + " differs at step " + std::to_string(step + 1);
      }
    }
  }
  return "equal";
}

// Bytes of weights, gradients, and optimizer state.
using State = std::array<std::int64_t, 3>;

// An element of weights or gradients; of the optimizer's state, what it keeps of one.
struct ElementBytes {
  std::int64_t value;
  std::int64_t optimizer;
};

ElementBytes element_bytes(const Settings& s) {
  const auto value = static_cast<std::int64_t>(size_of(element_type(s)));
  const std::int64_t moments = s.train.optimizer == "adamw" ? 2 : s.train.momentum != 0 ? 1 : 0;
  constexpr std::int64_t wide = 4;  // of bf16: the master and the moments are f32
  return {value, element_type(s) == DType::bf16 ? wide * ((s.train.masters ? 1 : 0) + moments)
                                                : value * moments};
}

State state_by_formula(const Settings& s, int rank) {
  const ElementBytes bytes = element_bytes(s);
  std::int64_t count = 0;
  std::int64_t padded = 0;
  std::int64_t shards = 0;
  std::int64_t real = 0;
  for (const Held held : parts_held(s)) {
    const AxisGroup group = holders_of(s, held, rank);
    for (const Bucket& bucket : buckets_of(s, rank, held)) {
      count += static_cast<std::int64_t>(bucket.count);
      padded += static_cast<std::int64_t>(bucket.padded);
      shards += static_cast<std::int64_t>(shard_size(bucket, group.size));
      real += static_cast<std::int64_t>(real_elements(bucket, group.size, group.me));
    }
  }
  const auto frozen = static_cast<std::int64_t>(frozen_elements(s, rank));
  const int stage = s.parallel.zero;
  const std::int64_t summed = stage == 0 && s.dp.sync_every_microbatch ? 2 : 1;
  return {bytes.value * (frozen + (stage == 0   ? count
                                   : stage == 3 ? shards
                                                : padded)),
          bytes.value * (stage > 1 ? shards : summed * padded),
          bytes.optimizer * (stage == 0 ? count : real)};
}

State state_of(const StepOutcome& outcome) {
  const auto of = [&](Category category) {
    return outcome.memory[static_cast<std::size_t>(category)];
  };
  return {of(Category::weights), of(Category::gradients),
          of(Category::optimizer_state) + of(Category::master_weights)};
}

std::int64_t total(const State& state) {
  return std::accumulate(state.begin(), state.end(), std::int64_t{0});
}

std::string formula_text(const Settings& s) {
  const ElementBytes bytes = element_bytes(s);
  const auto times = [](std::int64_t n) { return std::to_string(n) + "n"; };
  switch (s.parallel.zero) {
    case 0:
      return times(2 * bytes.value + bytes.optimizer);
    case 1:
      return times(2 * bytes.value) + " + " + times(bytes.optimizer) + "/p";
    case 2:
      return times(bytes.value) + " + " + times(bytes.value + bytes.optimizer) + "/p";
    default:
      return times(2 * bytes.value + bytes.optimizer) + "/p";
  }
}

}  // namespace

std::int64_t model_state_by_formula(const Settings& settings, int rank) {
  return total(state_by_formula(settings, rank));
}

Checks check_zero_bits(const CheckContext& context) {
  const Settings& s = context.settings;
  const std::string gate = "equal to data parallelism's";
  if (s.parallel.zero == 0) {
    return {without_zero("zero_bits", gate)};
  }
  if (s.parallel.pp > 1 && s.parallel.zero > 1) {
    return {{.name = "zero_bits",
             .measured = "parallel.pp = " + std::to_string(s.parallel.pp),
             .gate = gate,
             .verdict = CheckVerdict::not_applicable,
             .note = "a pipeline's data parallelism reduces once a step, these stages every "
                     "micro-batch"}};
  }
  if (s.parallel.tp > 1 && s.collectives.all_reduce != gradient_algorithm(s)) {
    return {{.name = "zero_bits",
             .measured = "another order of additions",
             .gate = gate,
             .verdict = CheckVerdict::not_applicable,
             .note = "gradients are added as " + gradient_algorithm(s) + " adds, but parts as " +
                     s.collectives.all_reduce}};
  }
  const Settings dp = as_data_parallelism(s);
  const std::string seen = zero_bits_seen(context.main, context.run(dp, context.truth));
  return {holds("zero_bits", seen == "equal", seen, gate,
                "gradients and parameters, every shard and step; all-reduce " +
                    dp.collectives.all_reduce +
                    (dp.dp.sync_every_microbatch ? ", after every micro-batch" : ""))};
}

Checks check_model_state(const CheckContext& context) {
  const Settings& s = context.settings;
  std::int64_t differing = 0;
  std::int64_t most = 0;
  std::int64_t most_by_formula = 0;
  for (int r = 0; r < s.ranks; ++r) {
    const State formula = state_by_formula(s, r);
    for (const StepOutcome& step : context.main.ranks[static_cast<std::size_t>(r)]) {
      const State seen = state_of(step);
      for (std::size_t i = 0; i < seen.size(); ++i) {
        differing += seen[i] != formula[i];
      }
      most = std::max(most, total(seen));
    }
    most_by_formula = std::max(most_by_formula, total(formula));
  }
  Settings whole = s;
  whole.parallel.zero = 0;
  // And of the whole model, whatever a rank has a part of here.
  whole.parallel.tp = whole.parallel.cp = whole.parallel.pp = whole.parallel.ep = 1;
  whole.parallel.sp = false;
  whole.parallel.dp = s.ranks;
  whole.dp.sync_every_microbatch = false;
  return {equal("model_state.figures_that_differ", differing, 0, "figures",
                "weights, gradients, optimizer state; every rank and step, to the byte"),
          equal("model_state.of_a_rank", most, most_by_formula, "bytes",
                "the most of any rank: " + formula_text(s) + " of n parameters" +
                    (s.parallel.tp > 1 ? ", a rank's part of the model," : "") + " on p " +
                    (s.parallel.tp > 1 ? "data-parallel " : "") +
                    "ranks, and padding; data parallelism alone would hold " +
                    std::to_string(total(state_by_formula(whole, 0))))};
}

}  // namespace ringside
