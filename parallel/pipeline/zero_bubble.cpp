// ZB-H1 and ZB-H2 (Qi and others 2023, Zero Bubble, section 2): 1F1B with backward in two halves.
#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "parallel/pipeline/generators.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

void require_microbatches(std::string_view name, const PipelineShape& shape, int least,
                          std::string_view rule) {
  if (shape.microbatches < least) {
    throw BadUse(
        fmt::format("{} fills its {} stages with {} = {} micro-batches before it can drain, and "
                    "there are {}: take at least {}, or 1f1b",
                    name, shape.stages, rule, least, shape.microbatches, least));
  }
}

// `ahead` forwards before the first I; W follows I by `lag` micro-batches.
std::vector<Action> split_backward(int stage, int microbatches, int ahead, int lag) {
  std::vector<Action> list;
  for (int i = 0; i < std::min(ahead - 1, microbatches); ++i) {
    list.push_back({ActionKind::forward, stage, i});
  }
  for (int i = 0; i < microbatches; ++i) {
    if (i + ahead - 1 < microbatches) {
      list.push_back({ActionKind::forward, stage, i + ahead - 1});
    }
    list.push_back({ActionKind::input_gradient, stage, i});
    if (i >= lag) {
      list.push_back({ActionKind::weight_gradient, stage, i - lag});
    }
  }
  for (int i = std::max(0, microbatches - lag); i < microbatches; ++i) {
    list.push_back({ActionKind::weight_gradient, stage, i});
  }
  return list;
}

Schedule split_schedule(std::string_view name, const PipelineShape& shape) {
  return {.name = std::string(name),
          .stages = shape.stages,
          .microbatches = shape.microbatches,
          .chunks = 1,
          .devices = {}};
}

}  // namespace

// Stage k runs p-k forwards ahead, as 1F1B does, and leaves W of k micro-batches for later.
Schedule zb_h1(const PipelineShape& shape) {
  require_microbatches("zb_h1", shape, shape.stages, "p");
  Schedule schedule = split_schedule("zb_h1", shape);
  for (int k = 0; k < shape.stages; ++k) {
    schedule.devices.push_back(split_backward(k, shape.microbatches, shape.stages - k, k));
  }
  return schedule;
}

// Twice as far ahead: 2(p-k)-1 forwards, and W of 2k micro-batches later.
Schedule zb_h2(const PipelineShape& shape) {
  require_microbatches("zb_h2", shape, 2 * shape.stages - 1, "2p-1");
  Schedule schedule = split_schedule("zb_h2", shape);
  for (int k = 0; k < shape.stages; ++k) {
    const int ahead = 2 * (shape.stages - k) - 1;
    schedule.devices.push_back(split_backward(k, shape.microbatches, ahead, 2 * k));
  }
  return schedule;
}

}  // namespace ringside
