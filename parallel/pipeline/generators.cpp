#include "parallel/pipeline/generators.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

using Actions = std::vector<Action>;

constexpr int most_actions = 1 << 24;

// `rows` holds a function from the device to its list.
template <class List>
Schedule by_device(std::string_view name, const PipelineShape& shape, const List& list) {
  Schedule schedule{.name = std::string(name),
                    .stages = shape.stages * shape.chunks,
                    .microbatches = shape.microbatches,
                    .chunks = shape.chunks,
                    .devices = {}};
  for (int d = 0; d < shape.stages; ++d) {
    schedule.devices.push_back(list(d));
  }
  return schedule;
}

// A micro-batch goes all the way there and back before the next one begins.
Schedule naive(const PipelineShape& shape) {
  return by_device("naive", shape, [&](int stage) {
    Actions list;
    for (int i = 0; i < shape.microbatches; ++i) {
      list.push_back({ActionKind::forward, stage, i});
      list.push_back({ActionKind::backward, stage, i});
    }
    return list;
  });
}

Schedule gpipe(const PipelineShape& shape) {
  return by_device("gpipe", shape, [&](int stage) {
    Actions list;
    for (const auto kind : {ActionKind::forward, ActionKind::backward}) {
      for (int i = 0; i < shape.microbatches; ++i) {
        list.push_back({kind, stage, i});
      }
    }
    return list;
  });
}

// The first `warmup` forwards, then a forward and a backward in turn, then the backwards left.
Actions one_forward_one_backward(const Actions& forwards, const Actions& backwards, int warmup) {
  const auto ahead = static_cast<std::size_t>(warmup);
  Actions list(forwards.begin(), forwards.begin() + warmup);
  for (std::size_t i = 0; i < backwards.size(); ++i) {
    if (i + ahead < forwards.size()) {
      list.push_back(forwards[i + ahead]);
    }
    list.push_back(backwards[i]);
  }
  return list;
}

Schedule one_f_one_b(const PipelineShape& shape) {
  return by_device("1f1b", shape, [&](int stage) {
    Actions forwards;
    Actions backwards;
    for (int i = 0; i < shape.microbatches; ++i) {
      forwards.push_back({ActionKind::forward, stage, i});
      backwards.push_back({ActionKind::backward, stage, i});
    }
    const int warmup = std::min(shape.microbatches, shape.stages - stage - 1);
    return one_forward_one_backward(forwards, backwards, warmup);
  });
}

void require_interleaved(const PipelineShape& shape) {
  const int p = shape.stages;
  const int m = shape.microbatches;
  if (m % p != 0) {
    const int below = m / p * p;
    throw BadUse(fmt::format(
        "interleaved takes micro-batches in groups of as many as there are devices, and {} is no "
        "multiple of {}: take {}{} micro-batches",
        m, p, below > 0 ? fmt::format("{} or ", below) : "", below + p));
  }
}

// Device d holds stages d, d + p, d + 2p…: each micro-batch comes by v times. In groups of p, all
// go through the device's first stage, then all through its second; backward the other way round.
Schedule interleaved(const PipelineShape& shape) {
  require_interleaved(shape);
  const int p = shape.stages;
  const int v = shape.chunks;
  const int units = shape.microbatches * v;
  if (v == 1) {
    Schedule plain = one_f_one_b(shape);
    plain.name = "interleaved";
    return plain;
  }
  return by_device("interleaved", shape, [&](int device) {
    Actions forwards;
    Actions backwards;
    for (int i = 0; i < units; ++i) {
      const int chunk = i % (p * v) / p;
      const int microbatch = i / (p * v) * p + i % p;
      forwards.push_back({ActionKind::forward, chunk * p + device, microbatch});
      backwards.push_back({ActionKind::backward, (v - 1 - chunk) * p + device, microbatch});
    }
    const int warmup =
        shape.microbatches == p ? units : std::min(units, 2 * (p - device - 1) + (v - 1) * p);
    return one_forward_one_backward(forwards, backwards, warmup);
  });
}

Rational first_to_last(const PipelineShape& shape) {
  return shape.stages - 1;
}

Rational naive_bubble(const PipelineShape& shape, const ScheduleCosts& costs) {
  return Rational(shape.microbatches) * first_to_last(shape) * (costs.forward + costs.backward());
}

Rational plain_bubble(const PipelineShape& shape, const ScheduleCosts& costs) {
  return first_to_last(shape) * (costs.forward + costs.backward()) / Rational(shape.chunks);
}

Rational zb_h1_bubble(const PipelineShape& shape, const ScheduleCosts& costs) {
  return first_to_last(shape) * (costs.forward + costs.input_gradient - costs.weight_gradient);
}

Rational zb_h2_bubble(const PipelineShape& shape, const ScheduleCosts& costs) {
  return first_to_last(shape) *
         (costs.forward + costs.input_gradient - Rational(2) * costs.weight_gradient);
}

Rational dualpipe_bubble(const PipelineShape& shape, const ScheduleCosts& costs) {
  const Rational together = costs.forward + costs.backward();
  return Rational(shape.stages / 2 - 1) *
         (together + costs.backward() - Rational(3) * costs.weight_gradient);
}

constexpr std::array<ScheduleRow, 8> table{{
    {"naive", naive, "any p and m", naive_bubble, "m(p-1)(F+B)", "all costs", false, 1,
     "one micro-batch at a time: a single stage works, the others wait",
     "Huang and others 2019, GPipe, section 2.2: the case without micro-batches"},
    {"gpipe", gpipe, "any p and m", plain_bubble, "(p-1)(F+B)", "all costs", false, 1,
     "all forwards, then all backwards: every micro-batch's activations are held",
     "Huang and others 2019, GPipe, section 2.2"},
    {"1f1b", one_f_one_b, "any p and m", plain_bubble, "(p-1)(F+B)", "all costs", false, 1,
     "a backward as soon as there is one: gpipe's bubble, at most p micro-batches held",
     "Narayanan and others 2021, Megatron-LM, section 2.2.1"},
    {"interleaved", interleaved, "m a multiple of p; v chunks (v = 1 is 1f1b)", plain_bubble,
     "(p-1)(F+B)/v", "all costs", false, 1,
     "v short stages a device: the bubble falls, messages rise, v-fold",
     "Narayanan and others 2021, Megatron-LM, section 2.2.2"},
    {"zb_h1", zb_h1, "m at least p", zb_h1_bubble, "(p-1)(F+I-W)", "W <= F and W <= I", false, 1,
     "backward in two: W fills what waiting leaves, with the memory of 1f1b",
     "Qi and others 2023, Zero Bubble, section 2.1"},
    {"zb_h2", zb_h2, "m at least 2p-1", zb_h2_bubble, "(p-1)(F+I-2W), inside a device",
     "W <= F and 2W <= F+I", true, 1,
     "more forwards ahead: no waiting inside a device, with twice the memory",
     "Qi and others 2023, Zero Bubble, section 2.2"},
    {"dualpipe", dualpipe, "p even, m even and at least 2p", dualpipe_bubble,
     "(p/2-1)(F&B+B-3W), F&B = F+B", "F = I and W <= F", false, 2,
     "micro-batches from both ends, a forward beside a backward: two copies of the parameters",
     "DeepSeek-V3 report 2024, section 3.2.1, table 2"},
    {"dualpipev", dualpipev, "p even, m at least p", dualpipe_bubble,
     "(p/2-1)(F&B+B-3W), F&B = F+B", "F = I and W <= F", false, 1,
     "dualpipe folded: p/2 devices with two stages each, one copy of the parameters",
     "DualPipe repository, DualPipeV; Sea AI Lab's cut-in-half"},
}};

}  // namespace

std::span<const ScheduleRow> schedule_table() {
  return table;
}

std::vector<std::string> schedule_names() {
  std::vector<std::string> names;
  for (const ScheduleRow& row : table) {
    names.emplace_back(row.name);
  }
  return names;
}

const ScheduleRow& schedule_row(std::string_view name) {
  const auto* row = std::ranges::find(table, name, &ScheduleRow::name);
  if (row == table.end()) {
    throw BadUse(fmt::format("no schedule is called \"{}\": choose one of {}", name,
                             fmt::join(schedule_names(), ", ")));
  }
  return *row;
}

Schedule make_schedule(std::string_view name, const PipelineShape& shape) {
  const ScheduleRow& row = schedule_row(name);
  if (shape.stages < 1 || shape.microbatches < 1 || shape.chunks < 1) {
    throw BadUse(fmt::format(
        "schedule {} needs at least 1 stage, 1 micro-batch and 1 chunk: got {}, {} and {}", name,
        shape.stages, shape.microbatches, shape.chunks));
  }
  if (shape.chunks > 1 && name != "interleaved") {
    throw BadUse(
        fmt::format("schedule {} has no chunks to choose: got {}; leave them out, or take "
                    "interleaved",
                    name, shape.chunks));
  }
  const double actions = 3.0 * shape.stages * shape.microbatches * shape.chunks;
  if (actions > most_actions) {
    throw BadUse(fmt::format(
        "schedule {} of {} stages, {} micro-batches and {} chunks has {:.0f} actions, more than "
        "{}: take fewer micro-batches",
        name, shape.stages, shape.microbatches, shape.chunks, actions, most_actions));
  }
  return row.make(shape);
}

}  // namespace ringside
