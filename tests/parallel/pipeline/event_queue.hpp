// A schedule's timing once more, in another way: a queue of what happens, in the order of time.
// A message arrives, or a device becomes free; whoever is concerned looks at its next action.
#pragma once

#include <map>
#include <queue>
#include <set>
#include <string>
#include <vector>

#include "parallel/pipeline/schedule.hpp"

namespace ringside {

struct WholeCosts {
  int forward = 1;
  int input_gradient = 1;
  int weight_gradient = 1;
  int send = 0;
};

class EventQueue {
 public:
  EventQueue(const Schedule& schedule, WholeCosts costs)
      : schedule_(schedule),
        costs_(costs),
        next_(schedule.devices.size()),
        free_at_(schedule.devices.size()) {
    for (std::size_t d = 0; d < schedule.devices.size(); ++d) {
      for (const Action& a : schedule.devices[d]) {
        home_[{a.stage, a.microbatch}] = d;
      }
    }
  }

  // The makespan; -1 when some device never ends.
  int makespan() {
    for (std::size_t d = 0; d < next_.size(); ++d) {
      happenings_.push({0, d, ""});
    }
    int now = 0;
    while (!happenings_.empty()) {
      const Happening happening = happenings_.top();
      happenings_.pop();
      now = happening.time;
      const std::size_t d = happening.device;
      if (!happening.message.empty()) {
        inbox_[d].insert(happening.message);
      }
      if (free_at_[d] <= now && next_[d] < schedule_.devices[d].size()) {
        try_next(d, now);
      }
    }
    for (std::size_t d = 0; d < next_.size(); ++d) {
      if (next_[d] < schedule_.devices[d].size()) {
        return -1;
      }
    }
    return now;
  }

 private:
  struct Happening {
    int time;
    std::size_t device;
    std::string message;

    bool operator>(const Happening& other) const { return time > other.time; }
  };

  static std::string activation(int stage, int microbatch) {
    return "activation into " + std::to_string(stage) + " of " + std::to_string(microbatch);
  }

  static std::string gradient(int stage, int microbatch) {
    return "gradient into " + std::to_string(stage) + " of " + std::to_string(microbatch);
  }

  bool has_input(std::size_t d, const Action& a) {
    if (a.kind == ActionKind::weight_gradient) {
      return true;  // its own device has just done I
    }
    if (a.kind == ActionKind::forward) {
      return a.stage == 0 || inbox_[d].contains(activation(a.stage, a.microbatch));
    }
    return a.stage == schedule_.stages - 1 || inbox_[d].contains(gradient(a.stage, a.microbatch));
  }

  int cost(const Action& a) const {
    return a.kind == ActionKind::forward           ? costs_.forward
           : a.kind == ActionKind::input_gradient  ? costs_.input_gradient
           : a.kind == ActionKind::weight_gradient ? costs_.weight_gradient
                                                   : costs_.input_gradient + costs_.weight_gradient;
  }

  std::size_t home(int stage, int microbatch) const { return home_.at({stage, microbatch}); }

  void send(const std::string& message, std::size_t from, std::size_t to, int time) {
    happenings_.push({from == to ? time : time + costs_.send, to, message});
  }

  void try_next(std::size_t d, int now) {
    const auto& list = schedule_.devices[d];
    const std::size_t count = list[next_[d]].with_next ? 2 : 1;
    int end = now;
    for (std::size_t i = next_[d]; i < next_[d] + count; ++i) {
      if (!has_input(d, list[i])) {
        return;
      }
      end += cost(list[i]);
    }
    for (std::size_t i = next_[d]; i < next_[d] + count; ++i) {
      const Action& a = list[i];
      if (a.kind == ActionKind::forward && a.stage + 1 < schedule_.stages) {
        send(activation(a.stage + 1, a.microbatch), d, home(a.stage + 1, a.microbatch), end);
      }
      if (gives_input_gradient(a.kind) && a.stage > 0) {
        send(gradient(a.stage - 1, a.microbatch), d, home(a.stage - 1, a.microbatch), end);
      }
    }
    next_[d] += count;
    free_at_[d] = end;
    happenings_.push({end, d, ""});
  }

  const Schedule& schedule_;
  WholeCosts costs_;
  std::vector<std::size_t> next_;
  std::vector<int> free_at_;
  std::map<std::pair<int, int>, std::size_t> home_;  // of a stage and micro-batch
  std::map<std::size_t, std::set<std::string>> inbox_;
  std::priority_queue<Happening, std::vector<Happening>, std::greater<>> happenings_;
};

}  // namespace ringside
