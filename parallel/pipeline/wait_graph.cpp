#include "parallel/pipeline/wait_graph.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>

#include "parallel/pipeline/events.hpp"

namespace ringside {

namespace {

enum class Reason : std::uint8_t { order, input, begun, open_send };

struct Wait {
  std::size_t on;  // a moment
  Reason reason;
};

// Moments 2u and 2u + 1: unit u (one action, or two together) has begun, has ended.
class Waits {
 public:
  explicit Waits(const Schedule& schedule)
      : schedule_(schedule), events_(schedule), unit_of_(events_.count()) {
    number_units();
    waits_.resize(2 * units_.size());
    for (std::size_t u = 0; u < units_.size(); ++u) {
      add_waits(u);
    }
    add_open_sends();
  }

  // Moments of a cycle, each waiting for the next; empty: there is none.
  std::vector<std::size_t> cycle() const;

  std::string text(const std::vector<std::size_t>& cycle) const;

 private:
  struct Unit {
    std::size_t device;
    std::size_t first;  // in the device's list
    std::size_t length;
  };

  std::span<const Action> actions(const Unit& unit) const {
    return std::span(schedule_.devices[unit.device]).subspan(unit.first, unit.length);
  }

  void number_units();
  void add_waits(std::size_t unit);
  void add_open_sends();
  std::string name(std::size_t moment) const;
  std::vector<bool> reachable() const;

  const Schedule& schedule_;
  Events events_;
  std::vector<std::size_t> unit_of_;  // by event
  std::vector<Unit> units_;
  std::vector<std::vector<Wait>> waits_;  // by moment
};

void Waits::number_units() {
  for (std::size_t d = 0; d < schedule_.devices.size(); ++d) {
    const std::span<const Action> list(schedule_.devices[d]);
    for (std::size_t i = 0; i < list.size();) {
      const auto unit = first_unit(list.subspan(i));
      for (const Action& action : unit) {
        unit_of_[events_.of(action)] = units_.size();
        if (action.kind == ActionKind::backward) {
          unit_of_[events_.of({ActionKind::weight_gradient, action.stage, action.microbatch})] =
              units_.size();
        }
      }
      units_.push_back({d, i, unit.size()});
      i += unit.size();
    }
  }
}

void Waits::add_waits(std::size_t u) {
  const Unit& unit = units_[u];
  waits_[2 * u + 1].push_back({2 * u, Reason::begun});
  if (unit.first > 0) {
    waits_[2 * u].push_back({2 * (u - 1) + 1, Reason::order});
  }
  for (const Action& action : actions(unit)) {
    if (const auto needed = events_.needed_by(action)) {
      waits_[2 * u].push_back({2 * unit_of_[*needed] + 1, Reason::input});
    }
  }
}

void Waits::add_open_sends() {
  // From a device, to a device, of a stage: the unit that takes the last gradient sent.
  std::map<std::array<std::size_t, 3>, std::size_t> taker;
  for (std::size_t u = 0; u < units_.size(); ++u) {
    for (const Action& action : actions(units_[u])) {
      if (!gives_input_gradient(action.kind) || action.stage == 0) {
        continue;
      }
      const std::size_t takes =
          unit_of_[events_.of({ActionKind::input_gradient, action.stage - 1, action.microbatch})];
      const std::size_t peer = units_[takes].device;
      if (peer == units_[u].device) {
        continue;
      }
      const std::array key{units_[u].device, peer, static_cast<std::size_t>(action.stage)};
      if (const auto last = taker.find(key); last != taker.end()) {
        waits_[2 * u + 1].push_back({2 * last->second, Reason::open_send});
      }
      taker[key] = takes;
    }
  }
}

// Which moments come, sooner or later.
std::vector<bool> Waits::reachable() const {
  std::vector<std::size_t> missing(waits_.size());
  std::vector<std::vector<std::size_t>> waiters(waits_.size());
  std::vector<std::size_t> ready;
  for (std::size_t moment = 0; moment < waits_.size(); ++moment) {
    missing[moment] = waits_[moment].size();
    for (const Wait& wait : waits_[moment]) {
      waiters[wait.on].push_back(moment);
    }
    if (missing[moment] == 0) {
      ready.push_back(moment);
    }
  }
  std::vector<bool> comes(waits_.size(), false);
  while (!ready.empty()) {
    const std::size_t moment = ready.back();
    ready.pop_back();
    comes[moment] = true;
    for (const std::size_t waiter : waiters[moment]) {
      if (--missing[waiter] == 0) {
        ready.push_back(waiter);
      }
    }
  }
  return comes;
}

// A moment that never comes waits for another that never comes: following them ends in a circle.
std::vector<std::size_t> Waits::cycle() const {
  const auto comes = reachable();
  const auto first = std::ranges::find(comes, false);
  if (first == comes.end()) {
    return {};
  }
  std::vector<std::size_t> way;
  std::vector<bool> seen(waits_.size(), false);
  auto moment = static_cast<std::size_t>(first - comes.begin());
  while (!seen[moment]) {
    seen[moment] = true;
    way.push_back(moment);
    moment =
        std::ranges::find_if(waits_[moment], [&](const Wait& wait) { return !comes[wait.on]; })->on;
  }
  way.erase(way.begin(), std::ranges::find(way, moment));
  return way;
}

std::string Waits::name(std::size_t moment) const {
  const Unit& unit = units_[moment / 2];
  std::string names;
  for (const Action& action : actions(unit)) {
    names += (names.empty() ? "" : "&") + text_of(action);
  }
  return fmt::format("{} on device {}", names, unit.device);
}

std::string Waits::text(const std::vector<std::size_t>& cycle) const {
  std::string text;
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    const std::size_t next = cycle[(i + 1) % cycle.size()];
    const auto wait = std::ranges::find(waits_[cycle[i]], next, &Wait::on);
    if (wait->reason == Reason::begun) {
      continue;
    }
    const std::string_view why = wait->reason == Reason::order ? "comes after"
                                 : wait->reason == Reason::input
                                     ? "needs the result of"
                                     : "can send its gradient only when the last one is taken by";
    text += fmt::format("{}{} {} {}", text.empty() ? "" : "; ", name(cycle[i]), why, name(next));
  }
  return text;
}

}  // namespace

std::string cycle_in(const Schedule& schedule) {
  const Waits waits(schedule);
  return waits.text(waits.cycle());
}

}  // namespace ringside
