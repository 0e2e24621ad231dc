// What becomes of a random program without buffering, worked out by hand: its collectives are
// written out as messages, and every rank goes on as far as it can.
#pragma once

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "tests/support/random_program.hpp"

namespace ringside {

class ProgramSimulation {
 public:
  // Of a rank that does not end: whom it waits for.
  std::vector<std::optional<int>> waits_for;

  explicit ProgramSimulation(const RandomProgram& program) : program_(program) {
    for (std::size_t r = 0; r < program.steps.size(); ++r) {
      moves_.emplace_back();
      for (const ProgramStep& step : program.steps[r]) {
        write_out(static_cast<int>(r), step);
      }
    }
    run();
  }

  // The cycle of waits that begins with its lowest rank, if there is one.
  std::vector<int> cycle() const {
    for (std::size_t start = 0; start < waits_for.size(); ++start) {
      std::vector<int> path{static_cast<int>(start)};
      auto next = waits_for[start];
      while (next && *next != path.front() && path.size() <= waits_for.size()) {
        path.push_back(*next);
        next = waits_for[static_cast<std::size_t>(*next)];
      }
      if (next && *next == path.front()) {
        return path;
      }
    }
    return {};
  }

 private:
  using Kind = ProgramStep::Kind;
  using Channel = std::tuple<int, int, int, int>;  // group, tag, from, to
  enum class Does : std::uint8_t { post, take, wait };

  struct Move {
    Does does;
    int peer;
    Channel channel;
  };

  void post(int me, int to, int group, int id) {
    moves_.back().push_back({Does::post, to, {group, id, me, to}});
  }

  void take(int me, int from, int group, int id) {
    moves_.back().push_back({Does::take, from, {group, id, from, me}});
  }

  // Until as many have been taken as were posted by then.
  void wait(int me, int to, int group, int id) {
    moves_.back().push_back({Does::wait, to, {group, id, me, to}});
  }

  void exchange(int me, int to, int from, int group) {
    post(me, to, group, 0);
    take(me, from, group, 0);
    wait(me, to, group, 0);
  }

  void write_out(int me, const ProgramStep& step) {
    switch (step.kind) {
      case Kind::send:
        post(me, step.peer, -1, step.id);
        return wait(me, step.peer, -1, step.id);
      case Kind::isend:
        return post(me, step.peer, -1, step.id);
      case Kind::recv:
        return take(me, step.peer, -1, step.id);
      case Kind::wait:
        return wait(me, step.peer, -1, step.id);
      default:
        return write_out_collective(me, step);
    }
  }

  void write_out_collective(int me, const ProgramStep& step) {
    const auto& group = program_.groups[static_cast<std::size_t>(step.group)];
    const int p = static_cast<int>(group.size());
    const int my_place =
        static_cast<int>(std::find(group.begin(), group.end(), me) - group.begin());
    const auto member = [&](int place) { return group[static_cast<std::size_t>((place + p) % p)]; };
    if (step.kind == Kind::barrier) {
      for (int distance = 1; distance < p; distance *= 2) {
        exchange(me, member(my_place + distance), member(my_place - distance), step.group);
      }
    } else if (step.kind == Kind::all_reduce) {
      for (int i = 0; i < 2 * (p - 1); ++i) {
        exchange(me, member(my_place + 1), member(my_place - 1), step.group);
      }
    } else if (my_place != step.peer) {
      take(me, member(step.peer), step.group, 0);
    } else {
      for (int k = 1; k < p; ++k) {
        post(me, member(step.peer + k), step.group, 0);
        wait(me, member(step.peer + k), step.group, 0);
      }
    }
  }

  bool can_do(const Move& move) {
    switch (move.does) {
      case Does::post:
        return ++posted_[move.channel] > 0;
      case Does::take:
        return posted_[move.channel] > taken_[move.channel] && ++taken_[move.channel] > 0;
      default:
        return taken_[move.channel] == posted_[move.channel];
    }
  }

  void run() {
    std::vector<std::size_t> at(moves_.size());
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < moves_.size(); ++r) {
        while (at[r] < moves_[r].size() && can_do(moves_[r][at[r]])) {
          ++at[r];
          moved = true;
        }
      }
    }
    for (std::size_t r = 0; r < moves_.size(); ++r) {
      waits_for.push_back(at[r] < moves_[r].size() ? std::optional(moves_[r][at[r]].peer)
                                                   : std::nullopt);
    }
  }

  const RandomProgram& program_;
  std::vector<std::vector<Move>> moves_;  // by rank
  std::map<Channel, int> posted_;
  std::map<Channel, int> taken_;
};

}  // namespace ringside
