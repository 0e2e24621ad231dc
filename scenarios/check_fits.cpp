// What a rank would need beside what its card has, by formula.
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "runtime/errors.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

// One input of [tokens, hidden] for every layer, attention and MLP together, of a rank's
// micro-batch.
std::int64_t layer_inputs_by_formula(const Settings& s) {
  const auto samples =
      samples_of(static_cast<std::uint64_t>(s.train.batch), batch_share_of(s, 0), 0).count;
  const std::int64_t tokens = static_cast<std::int64_t>(samples) * s.model.sequence / s.parallel.cp;
  const auto element = static_cast<std::int64_t>(size_of(element_type(s)));
  if (!at_true_scale(s)) {
    return tokens * s.model.hidden * s.model.layers * element;
  }
  const PublishedConfig& config = counted_model_of(s).config;
  return tokens * static_cast<std::int64_t>(config.hidden * config.layers) * element;
}

// Of the gradients, under data parallelism: each bucket is divided over the ranks.
std::string padding_text(const Settings& s) {
  std::size_t elements = 0;
  for (const Bucket& bucket : buckets_of(s)) {
    elements += bucket.padded - bucket.count;
  }
  if (elements == 0 || s.parallel.zero > 0) {
    return "";
  }
  return fmt::format("; {} bytes of it pad the gradients' buckets to multiples of {} ranks",
                     elements * size_of(element_type(s)), gradient_ranks(s));
}

}  // namespace

Check check_does_not_fit(const Settings& s) {
  const std::int64_t capacity = s.cluster.capacity->count;
  const std::int64_t state = model_state_by_formula(s, 0);
  if (state > capacity) {
    return holds("model_state.by_formula", true, std::to_string(state),
                 fmt::format("> {} bytes", capacity),
                 "weights, gradients and optimizer state of a rank" + padding_text(s));
  }
  const std::int64_t inputs = layer_inputs_by_formula(s);
  return holds("layer_inputs.by_formula", inputs > capacity - state, std::to_string(inputs),
               fmt::format("> {} bytes", capacity - state),
               fmt::format("of a rank's tokens, one for each layer; of {} bytes the model state "
                           "takes {}",
                           capacity, state));
}

Checks check_experts_do_not_fit(const Settings& s) {
  if (!at_true_scale(s) || s.parallel.ep > 1) {
    return {};
  }
  const auto parameters = static_cast<std::int64_t>(published_model_of(s).count("routed_experts"));
  if (parameters == 0) {
    return {};
  }
  const auto element = static_cast<std::int64_t>(size_of(element_type(s)));
  const std::int64_t capacity = s.cluster.capacity->count;
  return {holds("routed_experts.by_formula", element * parameters > capacity,
                std::to_string(element * parameters), fmt::format("> {} bytes", capacity),
                fmt::format("weights of {} parameters in bf16, without gradients and optimizer",
                            parameters))};
}

Check check_capacity_lifted(const Settings& settings) {
  Settings free = settings;
  free.cluster.capacity.reset();
  if (free.ranks == gradient_ranks(free)) {  // one card's part of the work stands for all
    free.train.batch = std::max(1, free.train.batch / free.ranks);
    free.ranks = free.parallel.dp = free.parallel.ep = free.cluster.nodes = 1;
  }
  std::string seen = "ended";
  try {
    run_at_true_scale(free, {.log = LogLevel::summary});
  } catch (const PeerLost&) {
    throw;
  } catch (...) {
    seen = failure_of(std::current_exception()).verdict;
  }
  Check control = holds("control.capacity_lifted", seen == "ended", seen, "ended",
                        "what a card does, with cluster.capacity = none");
  control.control = true;
  return control;
}

}  // namespace ringside
