// The protocol of parking and looking, step by step, in any order of the steps of all ranks and of
// the observer: one thread, so that an order which a machine shows once a year is shown here.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "runtime/deadlock.hpp"

namespace ringside {
namespace {

struct Op {
  bool sends = false;
  int peer = 0;
};

using Programs = std::vector<std::vector<Op>>;

struct Machine {
  struct Rank {
    std::vector<int> mailbox{};  // sources
    std::vector<int> local{};
    unsigned bell = 0;
    std::uint64_t epoch = 0;
    unsigned published_rings = 0;
    int published_peer = -1;
    bool ended = false;

    std::size_t at = 0;  // in its program
    int stage = 0;       // in its operation
    unsigned seen = 0;
  };

  explicit Machine(const Programs& p) : programs(p), ranks(p.size()) {}

  bool take(Rank& me, int source) {
    me.local.insert(me.local.end(), me.mailbox.begin(), me.mailbox.end());
    me.mailbox.clear();
    const auto found = std::find(me.local.begin(), me.local.end(), source);
    if (found == me.local.end()) {
      return false;
    }
    me.local.erase(found);
    return true;
  }

  void next_op(Rank& me) {
    me.stage = 0;
    ++me.at;
  }

  // One step of a rank. False when it can do nothing: it sleeps, or has ended.
  bool step(std::size_t r) {
    Rank& me = ranks[r];
    if (me.at == programs[r].size()) {
      return !std::exchange(me.ended, true);
    }
    const Op op = programs[r][me.at];
    if (op.sends) {
      Rank& peer = ranks[static_cast<std::size_t>(op.peer)];
      if (me.stage++ == 0) {
        peer.mailbox.push_back(static_cast<int>(r));
      } else {
        ++peer.bell;
        next_op(me);
      }
      return true;
    }
    return receive_step(me, op.peer);
  }

  // look; read the bell; look again; publish; epoch odd; sleep; epoch even; from the beginning.
  bool receive_step(Rank& me, int peer) {
    switch (me.stage) {
      case 0:
      case 2:
        take(me, peer) ? next_op(me) : static_cast<void>(++me.stage);
        return true;
      case 1:
        me.seen = me.bell;
        break;
      case 3:
        me.published_peer = peer;
        me.published_rings = me.seen;
        break;
      case 4:
        ++me.epoch;
        break;
      case 5:
        if (me.bell == me.seen) {
          return false;
        }
        break;
      default:
        ++me.epoch;
        me.stage = 0;
        return true;
    }
    ++me.stage;
    return true;
  }

  // One step of the observer; true when its look is complete.
  bool observe() {
    const std::size_t n = ranks.size();
    looks.resize(n);
    const std::size_t r = observed % n;
    if (observed < n) {
      looks[r] = {.epoch = ranks[r].epoch, .ended = ranks[r].ended};
    } else if (observed < 2 * n) {
      looks[r].has_come = ranks[r].bell != ranks[r].published_rings;
      if (ranks[r].published_peer >= 0) {
        looks[r].awaited = {ranks[r].published_peer};
      }
    } else {
      looks[r].epoch_after = ranks[r].epoch;
    }
    return ++observed == 3 * n && (observed = 0) == 0;
  }

  // Every look until nothing moves any more; the last one sees the end.
  std::vector<std::vector<int>> run(std::mt19937& random, LookRules rules) {
    std::vector<std::vector<int>> found;
    const auto slowness = 2 + random() % 40;  // of the observer
    for (int idle = 0; idle < 200;) {
      const std::size_t who = random() % ranks.size();
      if (random() % slowness == 0) {
        if (observe()) {
          found.push_back(stuck_ranks(looks, rules));
        }
        continue;
      }
      idle = step(who) ? 0 : idle + 1;
    }
    while (observed != 0) {
      observe();
    }
    while (!observe()) {
    }
    found.push_back(stuck_ranks(looks, rules));
    return found;
  }

  const Programs& programs;
  std::vector<Rank> ranks;
  std::vector<RankLook> looks;
  std::size_t observed = 0;
};

// Messages in an order that exists: each send before its receive. Mostly an answer to the one
// before, so that most ranks are parked most of the time.
Programs good_programs(std::mt19937& random) {
  Programs programs(2 + random() % 3);
  auto to = random() % programs.size();
  for (int message = 0; message < 40; ++message) {
    const auto from = random() % 8 == 0 ? random() % programs.size() : to;
    to = random() % programs.size();
    programs[from].push_back({true, static_cast<int>(to)});
    programs[to].push_back({false, static_cast<int>(from)});
  }
  return programs;
}

// Any messages: some receives come before the sends that others need, and some sends are missing.
Programs any_programs(std::mt19937& random) {
  Programs programs = good_programs(random);
  for (auto& program : programs) {
    if (random() % 2 == 0) {
      std::shuffle(program.begin(), program.end(), random);
    }
    if (random() % 4 == 0) {
      program.erase(program.begin() + static_cast<std::ptrdiff_t>(random() % program.size()));
    }
  }
  return programs;
}

int false_alarms(LookRules rules, int runs) {
  int alarms = 0;
  for (int seed = 0; seed < runs; ++seed) {
    std::mt19937 random(static_cast<unsigned>(seed));
    const Programs programs = good_programs(random);
    const auto found = Machine(programs).run(random, rules);
    alarms += std::any_of(found.begin(), found.end(), [](const auto& s) { return !s.empty(); });
  }
  return alarms;
}

TEST(DeadlockProtocol, GivesNoFalseAlarmInAnyOrderOfSteps) {
  EXPECT_EQ(false_alarms({}, 3000), 0);
}

TEST(DeadlockProtocol, ControlWithoutLookingAtWhatHasComeItGivesFalseAlarms) {
  EXPECT_GT(false_alarms({.what_has_come = false}, 3000), 10);
}

TEST(DeadlockProtocol, ControlWithoutTheSecondEpochsItGivesFalseAlarms) {
  EXPECT_GT(false_alarms({.second_epochs = false}, 3000), 10);
}

TEST(DeadlockProtocol, FindsExactlyTheRanksThatNeverEnd) {
  int deadlocked = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    const Programs programs = any_programs(random);
    Machine machine(programs);
    const auto found = machine.run(random, {});
    std::vector<int> never_end;
    for (std::size_t r = 0; r < programs.size(); ++r) {
      if (!machine.ranks[r].ended) {
        never_end.push_back(static_cast<int>(r));
      }
    }
    ASSERT_EQ(found.back(), never_end) << "seed " << seed;
    for (const auto& stuck : found) {  // an early verdict names none that would have gone on
      ASSERT_TRUE(std::includes(never_end.begin(), never_end.end(), stuck.begin(), stuck.end()));
    }
    deadlocked += never_end.empty() ? 0 : 1;
  }
  EXPECT_GT(deadlocked, 500);
  EXPECT_LT(deadlocked, 3000);
}

}  // namespace
}  // namespace ringside
