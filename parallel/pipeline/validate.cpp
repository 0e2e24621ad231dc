#include "parallel/pipeline/validate.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>

#include "parallel/pipeline/wait_graph.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

constexpr int nowhere = -1;

class Rules {
 public:
  explicit Rules(const Schedule& schedule) : schedule_(schedule) {}

  void require_shape() const {
    if (schedule_.stages < 1 || schedule_.microbatches < 1 || schedule_.chunks < 1 ||
        schedule_.devices.empty()) {
      fail(fmt::format(
          "it needs at least 1 device, 1 stage, 1 micro-batch and 1 chunk: has {}, "
          "{}, {} and {}",
          schedule_.devices.size(), schedule_.stages, schedule_.microbatches, schedule_.chunks));
    }
    for (std::size_t d = 0; d < schedule_.devices.size(); ++d) {
      if (schedule_.devices[d].empty()) {
        fail(fmt::format("device {} has nothing to do", d));
      }
    }
  }

  // Each action's place, or a refusal when it is there twice or not at all, or in the wrong order.
  void require_each_once() {
    places_.assign(static_cast<std::size_t>(schedule_.stages) *
                       static_cast<std::size_t>(schedule_.microbatches),
                   {});
    for (std::size_t d = 0; d < schedule_.devices.size(); ++d) {
      for (const Action& action : schedule_.devices[d]) {
        enter(action, static_cast<int>(d));
      }
    }
    for (int s = 0; s < schedule_.stages; ++s) {
      for (int i = 0; i < schedule_.microbatches; ++i) {
        require_whole(s, i);
      }
    }
  }

  void require_pairs() const {
    for (std::size_t d = 0; d < schedule_.devices.size(); ++d) {
      const auto& list = schedule_.devices[d];
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (list[i].with_next) {
          require_pair(list, i, d);
        }
      }
    }
  }

  void require_in_flight(int limit) const {
    for (std::size_t d = 0; d < schedule_.devices.size(); ++d) {
      int held = 0;
      for (const Action& action : schedule_.devices[d]) {
        held += action.kind == ActionKind::forward   ? 1
                : gives_weight_gradient(action.kind) ? -1
                                                     : 0;
        if (held > limit) {
          fail(
              fmt::format("at {} device {} holds the activations of {} stages and micro-batches, "
                          "and the limit is {}",
                          text_of(action), d, held, limit));
        }
      }
    }
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw BadUse("schedule " + schedule_.name + ": " + why);
  }

 private:
  // Of one stage and micro-batch: the device of F, B, I, W.
  using Places = std::array<int, 4>;

  struct Entry {
    Places device{nowhere, nowhere, nowhere, nowhere};
  };

  Entry& entry(int stage, int microbatch) {
    return places_[static_cast<std::size_t>(stage) *
                       static_cast<std::size_t>(schedule_.microbatches) +
                   static_cast<std::size_t>(microbatch)];
  }

  void enter(const Action& action, int device) {
    if (action.stage < 0 || action.stage >= schedule_.stages || action.microbatch < 0 ||
        action.microbatch >= schedule_.microbatches) {
      fail(fmt::format("{} on device {} is outside: stages are 0 to {}, micro-batches 0 to {}",
                       text_of(action), device, schedule_.stages - 1, schedule_.microbatches - 1));
    }
    Places& places = entry(action.stage, action.microbatch).device;
    int& place = places[static_cast<std::size_t>(action.kind)];
    if (place != nowhere) {
      fail(fmt::format(
          "{} is there twice, on device{} {}: once is right", text_of(action),
          place == device ? "" : "s",
          place == device ? fmt::format("{}", device) : fmt::format("{} and {}", place, device)));
    }
    place = device;
    require_follows(action, device, places);
  }

  // What comes before it on its own device must have come.
  void require_follows(const Action& action, int device, const Places& places) const {
    if (action.kind == ActionKind::forward) {
      return;
    }
    const bool weight = action.kind == ActionKind::weight_gradient;
    const Action before{weight ? ActionKind::input_gradient : ActionKind::forward, action.stage,
                        action.microbatch};
    const int place = places[static_cast<std::size_t>(before.kind)];
    if (weight && places[static_cast<std::size_t>(ActionKind::backward)] != nowhere) {
      fail(fmt::format("{} is there beside {}B{}, which contains it: take B, or I and W",
                       text_of(action), action.stage, action.microbatch));
    }
    if (place != device) {
      fail(fmt::format("{} on device {} has no {} before it there{}", text_of(action), device,
                       text_of(before),
                       place == nowhere ? "" : fmt::format(" (it is on device {})", place)));
    }
  }

  void require_whole(int stage, int microbatch) {
    const Places& places = entry(stage, microbatch).device;
    const auto there = [&](ActionKind kind) {
      return places[static_cast<std::size_t>(kind)] != nowhere;
    };
    const auto missing = [&](std::string_view what) {
      fail(fmt::format("stage {} does no {} for micro-batch {} (micro-batches are 0 to {})", stage,
                       what, microbatch, schedule_.microbatches - 1));
    };
    if (!there(ActionKind::forward)) {
      missing("F");
    }
    if (there(ActionKind::backward) && there(ActionKind::input_gradient)) {
      fail(fmt::format("{0}B{1} is there beside {0}I{1}: take B, or I and W", stage, microbatch));
    }
    if (!there(ActionKind::backward) && !there(ActionKind::input_gradient)) {
      missing("B, nor I and W,");
    }
    if (there(ActionKind::input_gradient) && !there(ActionKind::weight_gradient)) {
      missing("W");
    }
  }

  void require_pair(const std::vector<Action>& list, std::size_t at, std::size_t device) const {
    const Action& first = list[at];
    const bool closed = at + 1 < list.size() && gives_input_gradient(list[at + 1].kind) &&
                        first.kind == ActionKind::forward && !list[at + 1].with_next;
    if (!closed) {
      fail(fmt::format(
          "{} on device {} is to be computed together with {}: only an F can be, with "
          "a B or an I after it",
          text_of(first), device, at + 1 < list.size() ? text_of(list[at + 1]) : "nothing"));
    }
    if (first.stage == list[at + 1].stage && first.microbatch == list[at + 1].microbatch) {
      fail(
          fmt::format("{} and {} on device {} cannot be computed together: the second needs the "
                      "first",
                      text_of(first), text_of(list[at + 1]), device));
    }
  }

  const Schedule& schedule_;
  std::vector<Entry> places_;
};

}  // namespace

void require_valid(const Schedule& schedule, const ScheduleLimits& limits) {
  Rules rules(schedule);
  rules.require_shape();
  rules.require_each_once();
  rules.require_pairs();
  if (limits.in_flight) {
    rules.require_in_flight(*limits.in_flight);
  }
  const std::string cycle = cycle_in(schedule);
  if (!cycle.empty()) {
    rules.fail("it waits for itself and would never end: " + cycle);
  }
}

}  // namespace ringside
