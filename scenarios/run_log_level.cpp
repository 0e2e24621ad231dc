#include "scenarios/run_log_level.hpp"

#include "scenarios/model_settings.hpp"
#include "scenarios/run_headline.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

constexpr std::int64_t most_logged = 1'000'000;  // messages, unless --log says otherwise

}  // namespace

LogLevel log_level(const RunRequest& request) {
  const Settings& s = request.settings;
  const std::int64_t collectives = s.parallel.zero == 3 ? 3 : 2;
  const std::int64_t messages = collectives * reductions_of(s) * (s.ranks - 1) * s.ranks *
                                s.train.steps * static_cast<std::int64_t>(shape_of(s).buckets + 2);
  const std::int64_t layers = std::int64_t{6} * s.model.layers + 6;
  const std::int64_t of_tensors = s.parallel.tp == 1 ? 0
                                                     : 2 * layers * (s.parallel.tp - 1) * s.ranks *
                                                           s.train.steps * s.parallel.microbatches;
  const std::int64_t of_samples = s.parallel.cp == 1
                                      ? 0
                                      : std::int64_t{12} * s.model.layers * s.parallel.cp *
                                            s.ranks * s.train.steps * s.parallel.microbatches;
  const std::int64_t of_experts = has_experts(s)
                                      ? std::int64_t{20} * s.model.layers * (s.parallel.ep - 1) *
                                            s.ranks * s.train.steps * s.parallel.microbatches
                                      : 0;
  return request.log.value_or(messages + of_tensors + of_samples + of_experts > most_logged
                                  ? LogLevel::summary
                                  : LogLevel::full);
}

}  // namespace ringside
