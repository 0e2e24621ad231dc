#include "scenarios/explain_story.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <tuple>

#include "runtime/errors.hpp"
#include "scenarios/barrier_order.hpp"
#include "scenarios/step_order.hpp"

namespace ringside {

namespace {

std::size_t at(int rank) {
  return static_cast<std::size_t>(rank);
}

class Teller {
 public:
  explicit Teller(const ExplainedCall& asked)
      : asked_(asked),
        run_(run_on_symbols({.run = asked.run ? asked.run : run_row(asked.row.algorithm),
                             .ranks = asked.ranks,
                             .gpus_per_node = asked.gpus_per_node,
                             .calls = {asked.call()},
                             .limit = asked.timeout,
                             .history = true})) {}

  Story tell();

 private:
  const RankSymbols& of(int rank) const { return run_.calls[0][at(rank)]; }

  // After a rank's own step.
  const std::vector<Symbol>& after(int rank, int step) const {
    const Moment& moment = of(rank).history[at(step) + 1];
    return story_.moves ? moment.out : moment.values;
  }

  std::vector<std::vector<OwnStep>> own_steps() const;
  void require_step(const TakenMessage& message) const;
  void begin();
  void tell_steps();
  void tell_messages();
  void tell_holdings();
  void arrive(int rank, int step);
  bool may_hold(int rank, Symbol symbol) const;
  void count_bytes();
  void judge();
  void judge_equal();
  void judge_barrier();

  const ExplainedCall& asked_;
  SymbolicRun run_;
  Story story_;
  std::vector<std::vector<std::size_t>> joined_;  // [rank][own step]: the step of the story
  std::vector<std::set<Symbol>> arrived_;         // by rank: what it has heard so far
  std::vector<std::size_t> heard_;                // messages of each rank
};

Story Teller::tell() {
  story_.asked = asked_;
  story_.moves = asked_.row.operation == "all_to_all";
  begin();
  if (run_.failure) {
    story_.fault = *run_.failure;
    story_.died = run_.error;
    return std::move(story_);
  }
  story_.expressions = Expressions(run_.tables);
  tell_steps();
  tell_messages();
  tell_holdings();
  count_bytes();
  judge();
  return std::move(story_);
}

void Teller::begin() {
  story_.start.resize(at(asked_.ranks));
  for (int r = 0; r < asked_.ranks; ++r) {
    for (std::size_t i = 0; i < asked_.count; ++i) {
      story_.start[at(r)].push_back(Symbol::leaf(r, i));
    }
  }
}

void Teller::require_step(const TakenMessage& message) const {
  const Envelope& e = message.envelope;
  if (e.step < 0 || message.step < 0) {
    throw BadUse(fmt::format(
        "{} by {}: rank {} {} rank {} before its first step; begin each step with "
        "comm.next_step(\"a name for it\"), so that it can be told",
        asked_.row.operation, asked_.row.algorithm, e.step < 0 ? e.source : e.destination,
        e.step < 0 ? "sends to" : "receives from", e.step < 0 ? e.destination : e.source));
  }
}

std::vector<std::vector<OwnStep>> Teller::own_steps() const {
  std::vector<std::vector<OwnStep>> ranks(at(asked_.ranks));
  for (int r = 0; r < asked_.ranks; ++r) {
    const auto& history = of(r).history;
    for (std::size_t m = 1; m < history.size(); ++m) {
      ranks[at(r)].push_back({std::string(std::string_view(history[m].phase))});
    }
  }
  for (const RankSymbols& rank : run_.calls[0]) {
    for (const TakenMessage& message : rank.taken) {
      const Envelope& e = message.envelope;
      require_step(message);
      Time& start = ranks[at(e.source)][at(e.step)].start;
      start = std::min(start, e.t0);
    }
  }
  return ranks;
}

void Teller::tell_steps() {
  const auto own = own_steps();
  for (const auto& steps : own) {
    joined_.emplace_back(steps.size());
  }
  for (const JoinedStep& joined : joined_steps(own)) {
    for (const auto& [rank, step] : joined.own) {
      joined_[at(rank)][at(step)] = story_.steps.size();
    }
    story_.steps.push_back({.phase = joined.phase, .own = joined.own});
  }
}

void Teller::tell_messages() {
  for (const RankSymbols& rank : run_.calls[0]) {
    for (const TakenMessage& message : rank.taken) {
      const Envelope& e = message.envelope;
      const auto sent = joined_[at(e.source)][at(e.step)];
      const auto taken = joined_[at(e.destination)][at(message.step)];
      story_.steps[sent].messages.push_back(
          {.src = e.source,
           .dst = e.destination,
           .chunk = e.chunk,
           .bytes = static_cast<std::int64_t>(e.count) * told_element_bytes,
           .link = e.link,
           .start = e.t0,
           .carried = message.carried,
           .taken = taken == sent ? "" : fmt::format("{}", taken)});
    }
  }
  for (ToldStep& step : story_.steps) {
    std::stable_sort(step.messages.begin(), step.messages.end(), [](const auto& a, const auto& b) {
      return std::tie(a.start, a.src) < std::tie(b.start, b.src);
    });
  }
}

void Teller::arrive(int rank, int step) {
  const auto& taken = of(rank).taken;
  for (auto& heard = heard_[at(rank)]; heard < taken.size() && taken[heard].step <= step; ++heard) {
    arrived_[at(rank)].insert(taken[heard].carried.begin(), taken[heard].carried.end());
  }
}

// What was lent is overwritten in place, at any moment of the real run; it counts as held when it
// has been given back.
bool Teller::may_hold(int rank, Symbol symbol) const {
  return symbol.nothing() || symbol.rank() == rank || arrived_[at(rank)].contains(symbol);
}

void Teller::tell_holdings() {
  arrived_.resize(at(asked_.ranks));
  heard_.resize(at(asked_.ranks));
  Holdings holds = story_.start;
  if (story_.moves) {
    std::fill(holds.begin(), holds.end(), std::vector<Symbol>(asked_.count));
  }
  const auto put = [&](ToldStep& step, int rank, const std::vector<Symbol>& values) {
    auto& before = holds[at(rank)];
    for (std::size_t i = 0; i < before.size(); ++i) {
      const Symbol now = may_hold(rank, values[i]) ? values[i] : before[i];
      step.changed[at(rank)][i] = before[i] != now;
      before[i] = now;
    }
  };
  const std::vector<std::vector<bool>> unchanged(at(asked_.ranks), std::vector<bool>(asked_.count));
  for (ToldStep& step : story_.steps) {
    step.changed = unchanged;
    for (const auto& [rank, own] : step.own) {
      arrive(rank, own);
      put(step, rank, after(rank, own));
    }
    step.holds = holds;
  }
  const Holdings shown = holds;
  ToldStep end{.phase = {}, .changed = unchanged};
  for (int r = 0; r < asked_.ranks; ++r) {
    arrive(r, std::numeric_limits<int>::max());
    put(end, r, of(r).result);
  }
  if (holds != shown) {
    end.holds = std::move(holds);
    story_.steps.push_back(std::move(end));
  }
}

void Teller::count_bytes() {
  std::vector<std::int64_t> sent(at(asked_.ranks));
  auto received = sent;
  for (ToldStep& step : story_.steps) {
    for (const ToldMessage& message : step.messages) {
      sent[at(message.src)] += message.bytes;
      received[at(message.dst)] += message.bytes;
    }
    step.sent = sent;
    step.received = received;
  }
}

void Teller::judge() {
  const CollectiveCall call = asked_.call();
  for (int r = 0; r < asked_.ranks; ++r) {
    for (std::size_t i = 0; i < asked_.count; ++i) {
      if (required(call, asked_.ranks, r, i).kind == Required::anything) {
        continue;
      }
      ++story_.judged;
      if (holds_required(story_.expressions, call, asked_.ranks, r, i, of(r).result[i])) {
        continue;
      }
      if (story_.wrong++ == 0) {
        story_.diagnosis = diagnose(run_, story_.expressions, call, 0, r, i);
        story_.fault = story_.diagnosis ? story_.diagnosis->text() : "";
      }
    }
  }
  if (story_.wrong == 0 && call.operation == "all_reduce") {
    judge_equal();
  }
  if (call.operation == "barrier") {
    judge_barrier();
  }
}

// A barrier moves no data: what counts is whom each rank has heard of when it leaves.
void Teller::judge_barrier() {
  std::vector<Envelope> messages;
  for (const RankSymbols& rank : run_.calls[0]) {
    for (const TakenMessage& message : rank.taken) {
      messages.push_back(message.envelope);
    }
  }
  const auto unheard = unheard_ranks(asked_.ranks, std::move(messages));
  story_.judged = at(asked_.ranks);
  for (int r = 0; r < asked_.ranks; ++r) {
    if (!unheard[at(r)].empty() && story_.wrong++ == 0) {
      story_.fault = fmt::format("rank {} leaves without having heard that rank {} has come", r,
                                 unheard[at(r)].front());
    }
  }
}

// Equal expressions, or ranks end with different bits.
void Teller::judge_equal() {
  Expressions& all = story_.expressions;
  for (std::size_t i = 0; i < asked_.count; ++i) {
    for (int r = 1; r < asked_.ranks; ++r) {
      const Symbol first = of(0).result[i];
      const Symbol here = of(r).result[i];
      if (all.canonical(here) == all.canonical(first)) {
        continue;
      }
      if (story_.wrong++ == 0) {
        story_.fault = fmt::format(
            "element {}: rank 0 holds {}, rank {} holds {}: another order of additions gives other "
            "bits",
            i, all.text(first, i), r, all.text(here, i));
      }
    }
  }
}

}  // namespace

std::int64_t ToldStep::bytes() const {
  return std::accumulate(messages.begin(), messages.end(), std::int64_t{0},
                         [](auto sum, const ToldMessage& message) { return sum + message.bytes; });
}

std::int64_t ToldStep::bytes_so_far() const {
  return std::accumulate(sent.begin(), sent.end(), std::int64_t{0});
}

Story tell_story(const ExplainedCall& asked) {
  return Teller(asked).tell();
}

}  // namespace ringside
