#include "scenarios/step_order.hpp"

#include <algorithm>
#include <utility>

namespace ringside {

namespace {

using Key = std::pair<std::string, int>;  // phase, turn

struct Group {
  JoinedStep step;
  Time start = Time::max();
};

class Order {
 public:
  explicit Order(const std::vector<std::vector<OwnStep>>& ranks);
  std::vector<JoinedStep> run();

 private:
  std::vector<Key> heads() const;

  bool ready(const Key& key) const {
    const auto& own = groups_.at(key).step.own;
    return std::all_of(own.begin(), own.end(), [&](const auto& step) {
      return done_[static_cast<std::size_t>(step.first)] == static_cast<std::size_t>(step.second);
    });
  }

  JoinedStep take(const Key& key);

  std::vector<std::vector<Key>> keys_;  // [rank][step]
  std::map<Key, Group> groups_;
  std::vector<std::size_t> done_;  // steps of each rank
};

Order::Order(const std::vector<std::vector<OwnStep>>& ranks)
    : keys_(ranks.size()), done_(ranks.size()) {
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::map<std::string, int> turns;
    for (std::size_t s = 0; s < ranks[r].size(); ++s) {
      const OwnStep& own = ranks[r][s];
      const Key key{own.phase, turns[own.phase]++};
      keys_[r].push_back(key);
      Group& group = groups_[key];
      group.step.phase = own.phase;
      group.step.own[static_cast<int>(r)] = static_cast<int>(s);
      group.start = std::min(group.start, own.start);
    }
  }
}

std::vector<Key> Order::heads() const {
  std::vector<Key> heads;
  for (std::size_t r = 0; r < keys_.size(); ++r) {
    if (done_[r] < keys_[r].size()) {
      heads.push_back(keys_[r][done_[r]]);
    }
  }
  return heads;
}

// Those who are not there yet, because ranks disagree on the order of phases, come later.
JoinedStep Order::take(const Key& key) {
  Group& group = groups_.at(key);
  JoinedStep taken{.phase = group.step.phase};
  for (const auto& [rank, step] : std::exchange(group.step.own, {})) {
    auto& done = done_[static_cast<std::size_t>(rank)];
    const bool here = done == static_cast<std::size_t>(step);
    (here ? taken.own : group.step.own)[rank] = step;
    done += here ? 1 : 0;
  }
  return taken;
}

std::vector<JoinedStep> Order::run() {
  std::vector<JoinedStep> steps;
  for (auto next = heads(); !next.empty(); next = heads()) {
    const auto sooner = [&](const Key& a, const Key& b) {
      return std::pair(!ready(a), groups_.at(a).start) < std::pair(!ready(b), groups_.at(b).start);
    };
    steps.push_back(take(*std::min_element(next.begin(), next.end(), sooner)));
  }
  return steps;
}

}  // namespace

std::vector<JoinedStep> joined_steps(const std::vector<std::vector<OwnStep>>& ranks) {
  return Order(ranks).run();
}

}  // namespace ringside
