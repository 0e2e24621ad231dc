// Statistics across samples: of each rank's own tokens they are another model's, of all ranks'
// tokens those of one process.
#include <algorithm>

#include "scenarios/checks.hpp"
#include "scenarios/control.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

Check not_applicable(const char* measured) {
  return {.name = "batch_norm",
          .measured = measured,
          .gate = "model.batch_norm with dp.sync_batch_norm",
          .verdict = CheckVerdict::not_applicable};
}

// The same training with statistics of each rank's own tokens: the gates must break.
Check local_statistics(const CheckContext& context, double loss_divisor) {
  const Settings& s = context.settings;
  Settings local = s;
  local.dp.sync_batch_norm = false;
  const ScaledRun* scaled = loss_divisor == 1 ? nullptr : &context.scaled(loss_divisor);
  const TrainingOutcome& sound = scaled ? scaled->outcome : context.main;
  const auto faulty =
      context.run(local, scaled ? scaled->truth : context.truth, Fault::none, loss_divisor);
  const std::string name = scaled ? "local_statistics_loss_over_100" : "local_statistics";
  return judge_control(name, training_gates(s.model.dtype, local, faulty),
                       training_gates(s.model.dtype, s, sound));
}

}  // namespace

Checks check_batch_norm(const CheckContext& context) {
  const Settings& s = context.settings;
  if (!s.model.batch_norm || !s.dp.sync_batch_norm) {
    return {not_applicable("statistics of each rank's own tokens")};
  }
  if (gradient_ranks(s) == 1 || s.train.batch == 1) {
    return {not_applicable("one rank has all tokens")};
  }
  std::int64_t sent = 0;
  std::int64_t formula = 0;
  for (const auto& row : compare_traffic(s, context.main.job, context.truth)) {
    sent += row.label == "statistics" ? row.sent : 0;
    formula += row.label == "statistics" ? row.sent_formula : 0;
  }
  return {equal("batch_norm.bytes_sent", sent, formula, "bytes",
                "of statistics, all ranks: a layer cannot go on before it has them"),
          local_statistics(context, 1), local_statistics(context, 100)};
}

}  // namespace ringside
