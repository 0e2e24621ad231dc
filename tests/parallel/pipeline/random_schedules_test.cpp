// The validator's verdict on schedules put out of order at random is what happens when they are
// executed step by step, with sends that only end when they are received.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "parallel/pipeline/generators.hpp"
#include "parallel/pipeline/wait_graph.hpp"

namespace ringside {
namespace {

// A device's program: receive and wait block, send does not. What stays on a device is sent, too,
// but not waited for.
struct Step {
  enum Kind { receive, send, wait } kind;

  std::string message;
};

using Programs = std::vector<std::vector<Step>>;

std::string message(const Action& a) {
  return (a.kind == ActionKind::forward ? "act " : "grad ") + std::to_string(a.stage) + " " +
         std::to_string(a.microbatch);
}

// The sends of gradients wait for the one before them to the same peer, of the same stage.
Programs programs_of(const Schedule& schedule) {
  const StagePlacement placement(schedule);
  Programs programs(schedule.devices.size());
  for (std::size_t d = 0; d < programs.size(); ++d) {
    std::map<std::pair<int, int>, std::string> open;
    const auto exists = [&](int stage) { return stage >= 0 && stage < schedule.stages; };
    const auto& list = schedule.devices[d];
    for (std::size_t i = 0; i < list.size();) {
      const std::size_t next = i + (list[i].with_next ? 2 : 1);
      for (std::size_t j = i; j < next; ++j) {
        const Action& a = list[j];
        const int from = a.stage + (a.kind == ActionKind::forward ? -1 : 1);
        if (a.kind != ActionKind::weight_gradient && exists(from)) {
          programs[d].push_back({Step::receive, message({a.kind, from, a.microbatch})});
        }
      }
      for (std::size_t j = i; j < next; ++j) {
        const Action& a = list[j];
        if (a.kind == ActionKind::forward && exists(a.stage + 1)) {
          programs[d].push_back({Step::send, message(a)});
        }
        if (gives_input_gradient(a.kind) && exists(a.stage - 1)) {
          const int peer = placement.device_of(a.stage - 1, a.microbatch);
          auto& last = open[{peer, a.stage}];
          if (!last.empty() && peer != static_cast<int>(d)) {
            programs[d].push_back({Step::wait, last});
          }
          last = message(a);
          programs[d].push_back({Step::send, last});
        }
      }
      i = next;
    }
  }
  return programs;
}

bool ends(const Programs& programs) {
  std::vector<std::size_t> at(programs.size());
  std::set<std::string> sent;
  std::set<std::string> received;
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t d = 0; d < programs.size(); ++d) {
      while (at[d] < programs[d].size()) {
        const Step& step = programs[d][at[d]];
        if ((step.kind == Step::receive && !sent.contains(step.message)) ||
            (step.kind == Step::wait && !received.contains(step.message))) {
          break;
        }
        if (step.kind != Step::wait) {
          (step.kind == Step::send ? sent : received).insert(step.message);
        }
        ++at[d];
        moved = true;
      }
    }
  }
  for (std::size_t d = 0; d < programs.size(); ++d) {
    if (at[d] < programs[d].size()) {
      return false;
    }
  }
  return true;
}

// Whether what a stage does with a micro-batch is still in order on the device.
bool in_order(const std::vector<Action>& list) {
  std::map<std::pair<int, int>, ActionKind> last;
  for (const Action& a : list) {
    const auto before = last.find({a.stage, a.microbatch});
    const bool first = before == last.end();
    if (a.kind == ActionKind::forward ? !first : first) {
      return false;
    }
    if (a.kind == ActionKind::weight_gradient && before->second != ActionKind::input_gradient) {
      return false;
    }
    last[{a.stage, a.microbatch}] = a.kind;
  }
  return true;
}

Schedule disordered(Schedule schedule, std::mt19937& random, int swaps) {
  for (int i = 0; i < swaps; ++i) {
    auto& list = schedule.devices[random() % schedule.devices.size()];
    const std::size_t at = random() % (list.size() - 1);
    const bool pair =
        list[at].with_next || list[at + 1].with_next || (at > 0 && list[at - 1].with_next);
    if (pair) {
      continue;
    }
    std::swap(list[at], list[at + 1]);
    if (!in_order(list)) {
      std::swap(list[at], list[at + 1]);
    }
  }
  return schedule;
}

TEST(RandomSchedules, TheVerdictIsWhatHappens) {
  std::mt19937 random(5);
  std::map<bool, int> seen;
  for (int i = 0; i < 1000; ++i) {
    const auto& row = schedule_table()[random() % schedule_table().size()];
    const int v = row.name == "interleaved" ? 2 : 1;
    const Schedule schedule =
        disordered(make_schedule(row.name, {4, 8, v}), random, 1 + static_cast<int>(random() % 12));
    const bool free = cycle_in(schedule).empty();
    ASSERT_EQ(free, ends(programs_of(schedule))) << row.name << " " << cycle_in(schedule);
    ++seen[free];
  }
  EXPECT_GT(seen[true], 100);
  EXPECT_GT(seen[false], 100);
}

}  // namespace
}  // namespace ringside
