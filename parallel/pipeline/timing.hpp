// When each action of a schedule runs, by its dependencies and costs alone, exactly.
//
// A device does one action at a time, in its order, each as soon as what it needs is there. An F
// and the B that it is computed together with begin when both inputs are there and send both
// results when both are done.
//
// The bubble is the time in which a device does nothing. Its figures (conventions of Narayanan and
// others 2021, section 2.2):
//   bubble                makespan - busy: waiting from the first start to the last end
//   bubble inside device  the same between a device's own first start and own last end
//   over ideal            bubble / busy          over total   bubble / makespan
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "parallel/pipeline/rational.hpp"
#include "parallel/pipeline/schedule.hpp"

namespace ringside {

// Durations for one stage and micro-batch, in any unit; when interleaved, of all its chunks
// together. B takes I + W.
struct ScheduleCosts {
  Rational forward = 1;
  Rational input_gradient = 1;
  Rational weight_gradient = 1;
  Rational send = 0;  // from device to device

  Rational backward() const { return input_gradient + weight_gradient; }
};

// In ticks, of which a unit of time has a whole number.
struct ActionTime {
  std::int64_t start = 0;
  std::int64_t end = 0;

  bool operator==(const ActionTime&) const = default;
};

using ActionTimes = std::vector<std::vector<ActionTime>>;

struct ScheduleTiming {
  std::int64_t ticks_per_unit = 1;
  ActionTimes times;  // of each action, as in Schedule::devices
  std::int64_t makespan_ticks = 0;
  // By device, in ticks.
  std::vector<std::int64_t> busy_ticks;
  std::vector<std::int64_t> inside_ticks;  // bubble inside the device

  // In the units of the costs. Of devices that differ, busy is that of the one that does least, and
  // a bubble is the largest.
  Rational makespan() const { return in_units(makespan_ticks); }

  Rational busy() const;

  Rational bubble() const { return makespan() - busy(); }

  Rational bubble_inside_device() const;

  Rational bubble_over_ideal() const { return bubble() / busy(); }

  Rational bubble_over_total() const { return bubble() / makespan(); }

  Rational in_units(std::int64_t ticks) const { return {ticks, ticks_per_unit}; }
};

// In time proportional to the number of actions. `schedule` must be valid (validate.hpp). Throws
// BadUse when all costs are 0, or the times do not fit in 64 bits.
ScheduleTiming time_of(const Schedule& schedule, const ScheduleCosts& costs = {});

// The rule behind it: `cost` gives the ticks of what is computed together, one action or two.
ActionTimes run_in_ticks(const Schedule& schedule,
                         const std::function<std::int64_t(std::span<const Action>)>& cost,
                         std::int64_t send);

}  // namespace ringside
