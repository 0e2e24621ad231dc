// Random programs of a few ranks: messages, and collectives on random groups. A good one has an
// order of all its events in which none waits for a later one, so it ends also without buffering;
// a deadlocking one is a good one with a cycle of waits put in somewhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace ringside {

struct ProgramStep {
  enum class Kind : std::uint8_t { send, isend, recv, wait, barrier, all_reduce, broadcast };
  Kind kind;
  int peer = -1;  // world rank; of a broadcast the root, in its group
  int id = 0;     // tag of a message
  int group = -1;
};

struct RandomProgram {
  std::vector<std::vector<int>> groups;         // members: world ranks, ascending
  std::vector<std::vector<ProgramStep>> steps;  // by rank
  std::vector<int> cycle;                       // that was put in: each waits for the next
};

class ProgramGenerator {
 public:
  ProgramGenerator(unsigned seed, int ranks) : random_(seed), ranks_(ranks) {
    program_.steps.resize(static_cast<std::size_t>(ranks));
  }

  RandomProgram good() {
    make_groups();
    add_events(events_);
    finish();
    return program_;
  }

  RandomProgram deadlocking() {
    make_groups();
    const int before = below(events_);
    add_events(before);
    add_cycle();
    add_events(events_ - before);
    finish();
    return program_;
  }

 private:
  using Kind = ProgramStep::Kind;

  struct Open {  // a message that was sent with isend
    int from;
    int to;
    int id;
    bool received = false;
  };

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  std::vector<int> some_ranks(int count) {
    std::vector<int> all(static_cast<std::size_t>(ranks_));
    std::iota(all.begin(), all.end(), 0);
    std::shuffle(all.begin(), all.end(), random_);
    all.resize(static_cast<std::size_t>(count));
    return all;
  }

  void add(int rank, ProgramStep step) {
    program_.steps[static_cast<std::size_t>(rank)].push_back(step);
  }

  void make_groups() {
    for (int g = 0; g < 3; ++g) {
      auto members = some_ranks(2 + below(ranks_ - 1));
      std::sort(members.begin(), members.end());
      program_.groups.push_back(members);
    }
  }

  void add_events(int count) {
    for (int event = 0; event < count; ++event) {
      switch (below(5)) {
        case 0:
          add_message();
          break;
        case 1:
          add_isend();
          break;
        case 2:
          go_on_with_an_open_message();
          break;
        default:
          add_collective();
      }
    }
  }

  void add_message() {
    const auto ends = some_ranks(2);
    add(ends[0], {Kind::send, ends[1], ++ids_});
    add(ends[1], {Kind::recv, ends[0], ids_});
  }

  void add_isend() {
    const auto ends = some_ranks(2);
    add(ends[0], {Kind::isend, ends[1], ++ids_});
    open_.push_back({ends[0], ends[1], ids_});
  }

  void go_on_with_an_open_message() {
    if (open_.empty()) {
      return;
    }
    const auto at = open_.begin() + below(static_cast<int>(open_.size()));
    if (!at->received) {
      add(at->to, {Kind::recv, at->from, at->id});
      at->received = true;
    } else {
      add(at->from, {Kind::wait, at->to, at->id});
      open_.erase(at);
    }
  }

  void add_collective() {
    const int group = below(static_cast<int>(program_.groups.size()));
    const auto& members = program_.groups[static_cast<std::size_t>(group)];
    const Kind kind = std::vector{Kind::barrier, Kind::all_reduce, Kind::broadcast}[random_() % 3];
    const int root = kind == Kind::broadcast ? below(static_cast<int>(members.size())) : -1;
    for (const int member : members) {
      add(member, {kind, root, 0, group});
    }
  }

  void finish() {
    while (!open_.empty()) {
      go_on_with_an_open_message();
    }
  }

  void add_cycle() {
    program_.cycle = some_ranks(2 + below(ranks_ - 1));
    if (program_.cycle.size() > 2 && below(2) == 0) {
      add_cycle_of_collectives();
    } else {
      add_cycle_of_messages();
    }
  }

  // Each waits for the next, in a receive or in a send, and serves the one before too late.
  void add_cycle_of_messages() {
    const auto& cycle = program_.cycle;
    const std::size_t n = cycle.size();
    std::vector<bool> sends;
    std::vector<int> ids;
    for (std::size_t i = 0; i < n; ++i) {
      sends.push_back(below(2) == 0);
      ids.push_back(++ids_);
      add(cycle[i], {sends[i] ? Kind::send : Kind::recv, cycle[(i + 1) % n], ids[i]});
    }
    for (std::size_t i = 0; i < n; ++i) {
      add(cycle[(i + 1) % n], {sends[i] ? Kind::recv : Kind::send, cycle[i], ids[i]});
    }
  }

  // Each calls a barrier with the next before the one with the one before.
  void add_cycle_of_collectives() {
    const auto& cycle = program_.cycle;
    const std::size_t n = cycle.size();
    const int first = static_cast<int>(program_.groups.size());
    for (std::size_t i = 0; i < n; ++i) {
      const int a = cycle[i];
      const int b = cycle[(i + 1) % n];
      program_.groups.push_back({std::min(a, b), std::max(a, b)});
      add(a, {Kind::barrier, -1, 0, first + static_cast<int>(i)});
    }
    for (std::size_t i = 0; i < n; ++i) {
      add(cycle[(i + 1) % n], {Kind::barrier, -1, 0, first + static_cast<int>(i)});
    }
  }

  static constexpr int events_ = 20;
  std::mt19937 random_;
  int ranks_;
  RandomProgram program_;
  std::vector<Open> open_;
  int ids_ = 0;
};

}  // namespace ringside
