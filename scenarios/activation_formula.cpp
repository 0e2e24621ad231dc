#include "scenarios/activation_formula.hpp"

#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

ActivationFormula activation_formula(const Settings& s) {
  const PublishedModel& model = counted_model_of(s);
  const auto samples =
      samples_of(static_cast<std::uint64_t>(s.train.batch), batch_share_of(s, 0), 0).count;
  const auto tokens = static_cast<std::int64_t>(samples) * s.model.sequence;
  const auto element = static_cast<std::int64_t>(size_of(element_type(s)));
  const std::int64_t row = tokens * static_cast<std::int64_t>(model.config.hidden) * element;
  const bool full = s.parallel.recompute == "full";
  const auto blocks = static_cast<std::int64_t>(model.config.layers);
  const auto layers = static_cast<std::int64_t>(model.layers.size());
  return {.tokens = tokens * 4,
          .blocks = row * blocks * (full ? 1 : 2),
          .in_flight = row * (full ? 3 : 1),
          .others = row * (layers - 2 * blocks - 1),
          .logits = 2 * tokens * static_cast<std::int64_t>(model.config.vocab) * element};
}

}  // namespace ringside
