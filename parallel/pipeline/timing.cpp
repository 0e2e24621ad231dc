#include "parallel/pipeline/timing.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "parallel/pipeline/events.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

using Cost = std::function<std::int64_t(std::span<const Action>)>;

constexpr std::int64_t not_yet = -1;
constexpr int nobody = -1;

// Each device runs until it misses something, and goes on when that is there.
class Run {
 public:
  Run(const Schedule& schedule, const Cost& cost, std::int64_t send)
      : schedule_(schedule),
        events_(schedule),
        cost_(cost),
        send_(send),
        end_(events_.count(), not_yet),
        producer_(events_.count(), nobody),
        waiting_(events_.count(), nobody),
        times_(schedule.devices.size()),
        now_(schedule.devices.size()) {}

  ActionTimes times() {
    for (std::size_t d = schedule_.devices.size(); d > 0; --d) {
      ready_.push_back(static_cast<int>(d - 1));
    }
    while (!ready_.empty()) {
      const int device = ready_.back();
      ready_.pop_back();
      advance(device);
    }
    for (std::size_t d = 0; d < times_.size(); ++d) {
      if (times_[d].size() < schedule_.devices[d].size()) {
        throw BadUse("schedule " + schedule_.name + " cannot be timed: device " +
                     std::to_string(d) + " waits for ever to do " +
                     text_of(schedule_.devices[d][times_[d].size()]) + "; validate it");
      }
    }
    return times_;
  }

 private:
  void advance(int device) {
    const auto d = static_cast<std::size_t>(device);
    const std::span<const Action> actions(schedule_.devices[d]);
    while (times_[d].size() < actions.size()) {
      const auto unit = first_unit(actions.subspan(times_[d].size()));
      std::int64_t start = now_[d];
      for (const Action& action : unit) {
        if (!inputs_there(action, device, start)) {
          return;
        }
      }
      run(unit, device, start);
    }
  }

  // Moves `start` to when they are there, or notes that the device waits for them.
  bool inputs_there(const Action& action, int device, std::int64_t& start) {
    const auto needed = events_.needed_by(action);
    if (!needed) {
      return true;
    }
    if (end_[*needed] == not_yet) {
      waiting_[*needed] = device;
      return false;
    }
    start = std::max(start, end_[*needed] + (producer_[*needed] == device ? 0 : send_));
    return true;
  }

  void run(std::span<const Action> unit, int device, std::int64_t start) {
    const auto d = static_cast<std::size_t>(device);
    const std::int64_t end = start + cost_(unit);
    std::int64_t at = start;
    for (const Action& action : unit) {
      const bool last = &action == &unit.back();
      const std::int64_t done = last ? end : at + cost_(std::span(&action, 1));
      times_[d].push_back({at, done});
      at = done;
      const std::size_t event = events_.of(action);
      end_[event] = end;
      producer_[event] = device;
      if (waiting_[event] != nobody) {
        ready_.push_back(waiting_[event]);
        waiting_[event] = nobody;
      }
    }
    now_[d] = end;
  }

  const Schedule& schedule_;
  Events events_;
  const Cost& cost_;
  std::int64_t send_;
  std::vector<std::int64_t> end_;  // by event
  std::vector<int> producer_;      // by event
  std::vector<int> waiting_;       // by event
  ActionTimes times_;
  std::vector<std::int64_t> now_;  // by device
  std::vector<int> ready_;
};

struct Ticks {
  std::int64_t per_unit = 1;
  std::int64_t forward = 0;
  std::int64_t input_gradient = 0;
  std::int64_t weight_gradient = 0;
  std::int64_t send = 0;

  std::int64_t of(ActionKind kind) const {
    switch (kind) {
      case ActionKind::forward:
        return forward;
      case ActionKind::input_gradient:
        return input_gradient;
      case ActionKind::weight_gradient:
        return weight_gradient;
      default:
        return input_gradient + weight_gradient;
    }
  }
};

// A stage's cost is shared by its chunks; a message is not.
Ticks ticks_of(const Schedule& schedule, const ScheduleCosts& costs) {
  const Rational chunks(schedule.chunks);
  const Rational each[] = {costs.forward / chunks, costs.input_gradient / chunks,
                           costs.weight_gradient / chunks, costs.send};
  Ticks ticks;
  Rational all;
  for (const Rational& cost : each) {
    ticks.per_unit = (Rational(ticks.per_unit / std::gcd(ticks.per_unit, cost.denominator())) *
                      Rational(cost.denominator()))
                         .numerator();
    all = all + cost;
  }
  if (all - costs.send == Rational(0)) {
    throw BadUse(
        "a schedule whose F, I and W all cost 0 has no bubble to speak of: let one cost "
        "something");
  }
  const auto whole = [&](const Rational& cost) {
    return (cost * Rational(ticks.per_unit)).numerator();
  };
  ticks.forward = whole(each[0]);
  ticks.input_gradient = whole(each[1]);
  ticks.weight_gradient = whole(each[2]);
  ticks.send = whole(each[3]);
  // However it waits, it never takes longer than all actions and messages one after the other:
  // when that fits, so does everything.
  static_cast<void>(Rational(2) * all * Rational(ticks.per_unit) * Rational(schedule.stages) *
                    Rational(schedule.microbatches));
  return ticks;
}

}  // namespace

ActionTimes run_in_ticks(const Schedule& schedule, const Cost& cost, std::int64_t send) {
  return Run(schedule, cost, send).times();
}

ScheduleTiming time_of(const Schedule& schedule, const ScheduleCosts& costs) {
  const Ticks ticks = ticks_of(schedule, costs);
  const auto cost = [&](std::span<const Action> unit) {
    std::int64_t sum = 0;
    for (const Action& action : unit) {
      sum += ticks.of(action.kind);
    }
    return sum;
  };
  ScheduleTiming timing;
  timing.ticks_per_unit = ticks.per_unit;
  timing.times = run_in_ticks(schedule, cost, ticks.send);
  for (const auto& device : timing.times) {
    std::int64_t busy = 0;
    for (const ActionTime& time : device) {
      busy += time.end - time.start;
    }
    const std::int64_t end = device.empty() ? 0 : device.back().end;
    timing.makespan_ticks = std::max(timing.makespan_ticks, end);
    timing.busy_ticks.push_back(busy);
    timing.inside_ticks.push_back(device.empty() ? 0 : end - device.front().start - busy);
  }
  return timing;
}

Rational ScheduleTiming::busy() const {
  return in_units(*std::ranges::min_element(busy_ticks));
}

Rational ScheduleTiming::bubble_inside_device() const {
  return in_units(*std::ranges::max_element(inside_ticks));
}

}  // namespace ringside
