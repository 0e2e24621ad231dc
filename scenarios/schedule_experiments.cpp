#include "scenarios/schedule_experiments.hpp"

#include <algorithm>
#include <numeric>

#include "parallel/pipeline/generators.hpp"

namespace ringside {

namespace {

constexpr int most_stages = 8;
constexpr int most_microbatches = 32;

std::vector<ScheduleCosts> tried_costs() {
  return {{1, 1, 1, 0}, {1, 2, 1, 0}, {3, 5, 2, 0}, {2, 1, Rational(7, 3), 0}};
}

// Whether `property` holds for all p, and all m that are multiples of `step`(p).
template <class Property>
bool for_all(int (*step)(int), const Property& property) {
  for (int p = 2; p <= most_stages; ++p) {
    for (int m = step(p); m <= most_microbatches; m += step(p)) {
      for (const ScheduleCosts& costs : tried_costs()) {
        if (!property(p, m, costs)) {
          return false;
        }
      }
    }
  }
  return true;
}

int any_number(int) {
  return 1;
}

int multiples(int p) {
  return p;
}

// By device: activations and gradients that it sends to others.
std::vector<int> messages(const Schedule& schedule) {
  const StagePlacement placement(schedule);
  std::vector<int> sent(schedule.devices.size());
  for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
    for (const Action& action : schedule.devices[d]) {
      const int to = action.kind == ActionKind::forward  ? action.stage + 1
                     : gives_input_gradient(action.kind) ? action.stage - 1
                                                         : -1;
      const bool exists = to >= 0 && to < schedule.stages;
      sent[d] += exists && placement.device_of(to, action.microbatch) != static_cast<int>(d);
    }
  }
  return sent;
}

bool messages_are_v_fold(const Schedule& interleaved, const Schedule& plain) {
  const int v = interleaved.chunks;
  const int p = plain.stages;
  const auto ours = messages(interleaved);
  const auto theirs = messages(plain);
  for (std::size_t d = 1; d + 1 < ours.size(); ++d) {
    if (ours[d] != v * theirs[d]) {
      return false;
    }
  }
  const auto all = [](const std::vector<int>& sent) {
    return std::accumulate(sent.begin(), sent.end(), 0);
  };
  return all(ours) * (p - 1) == all(theirs) * (p * v - 1);
}

}  // namespace

double bubble_of(std::string_view schedule, int stages, int microbatches) {
  const auto timing = time_of(make_schedule(schedule, {stages, microbatches, 1}), {1, 1, 1, 0});
  const Rational bubble = timing.bubble_over_ideal() * (3 * microbatches);
  return static_cast<double>(bubble.numerator()) / static_cast<double>(bubble.denominator());
}

bool over_ideal_is_plain(std::string_view schedule) {
  return for_all(any_number, [&](int p, int m, const ScheduleCosts& costs) {
    const auto timing = time_of(make_schedule(schedule, {p, m, 1}), costs);
    return timing.bubble_over_ideal() == Rational(p - 1, m);
  });
}

bool over_total_is_plain(std::string_view schedule) {
  return for_all(any_number, [&](int p, int m, const ScheduleCosts& costs) {
    const auto timing = time_of(make_schedule(schedule, {p, m, 1}), costs);
    return timing.bubble_over_total() == Rational(p - 1, m + p - 1);
  });
}

bool interleaved_divides_by_v(std::string_view plain) {
  return for_all(multiples, [&](int p, int m, const ScheduleCosts& costs) {
    const Schedule whole = make_schedule(plain, {p, m, 1});
    const Rational bubble = time_of(whole, costs).bubble();
    for (int v = 2; v <= 4; ++v) {
      const Schedule schedule = make_schedule("interleaved", {p, m, v});
      if (!(time_of(schedule, costs).bubble() * Rational(v) == bubble) ||
          !messages_are_v_fold(schedule, whole)) {
        return false;
      }
    }
    return true;
  });
}

}  // namespace ringside
