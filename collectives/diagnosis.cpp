#include "collectives/diagnosis.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "collectives/place_history.hpp"

namespace ringside {

namespace {

constexpr std::array<std::string_view, 9> kind_names{"missing",   "twice",     "foreign",
                                                     "misplaced", "stale",     "unwritten",
                                                     "mislaid",   "operation", "order"};

// What the nodes of a call's expression compute: an average is a sum, divided once.
ReduceOp node_op(const CollectiveCall& call) {
  return call.op == ReduceOp::avg ? ReduceOp::sum : call.op;
}

std::string list(const std::vector<int>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  }
  return text;
}

// Everything that a search for the cause looks at.
class Search {
 public:
  Search(const SymbolicRun& run, const Expressions& expressions, const CollectiveCall& call,
         std::size_t index_of_call, int rank, std::size_t element, std::size_t slot)
      : expressions_(expressions),
        call_(call),
        ranks_(run.calls[index_of_call]),
        p_(static_cast<int>(ranks_.size())),
        history_(ranks_, expressions, call, slot, element) {
    d_.rank = rank;
    d_.element = element;
    d_.chunk = call.count == 0 ? 0 : chunk_with(call.count, p_, element);
    held_ = of(rank).result[element];
    d_.held = expressions.text(held_, element);
  }

  Diagnosis run();

 private:
  const RankSymbols& of(int rank) const { return ranks_[static_cast<std::size_t>(rank)]; }

  void judge_reduction();
  void judge_element(const Required& required);
  bool find_twice(Symbol symbol);
  void place(const std::vector<int>& missing);

  bool complete(Symbol symbol) const;
  std::optional<int> finished_elsewhere() const;

  const Expressions& expressions_;
  const CollectiveCall& call_;
  const std::vector<RankSymbols>& ranks_;
  int p_;
  PlaceHistory history_;
  Symbol held_;
  Diagnosis d_;
};

Diagnosis Search::run() {
  const Required needed = required(call_, p_, d_.rank, d_.element);
  if (needed.kind == Required::reduction) {
    d_.expected = "element " + std::to_string(d_.element) + " of every rank, once";
    judge_reduction();
  } else {
    d_.expected =
        "element " + std::to_string(needed.index) + " of rank " + std::to_string(needed.rank);
    judge_element(needed);
  }
  return std::move(d_);
}

bool Search::complete(Symbol symbol) const {
  return holds_required(expressions_, call_, p_, d_.rank, d_.element, symbol);
}

std::optional<int> Search::finished_elsewhere() const {
  for (int r = 0; r < p_; ++r) {
    if (r != d_.rank && required(call_, p_, r, d_.element).kind == Required::reduction &&
        complete(of(r).result[d_.element])) {
      return r;
    }
  }
  return std::nullopt;
}

// The first node, in steps, that adds a part which is in its other operand already.
bool Search::find_twice(Symbol symbol) {
  const SymbolNode* worst = nullptr;
  int maker = 0;
  std::vector<Symbol> open{symbol};
  while (!open.empty()) {
    const Symbol next = open.back();
    open.pop_back();
    if (next.nothing() || next.is_leaf()) {
      continue;
    }
    const SymbolNode& node = expressions_.node(next);
    open.push_back(node.left);
    if (node.divisor > 0) {
      continue;
    }
    open.push_back(node.right);
    const auto left = expressions_.leaves(node.left);
    const auto right = expressions_.leaves(node.right);
    std::vector<Symbol> both;
    std::set_intersection(left.begin(), left.end(), right.begin(), right.end(),
                          std::back_inserter(both));
    if (!both.empty() && (worst == nullptr || node.step < worst->step)) {
      worst = &node;
      maker = next.rank();
      d_.ranks.clear();
      for (const Symbol leaf : both) {
        d_.ranks.push_back(leaf.rank());
      }
    }
  }
  if (worst != nullptr) {
    d_.kind = FaultKind::twice;
    d_.step = worst->step;
    d_.at_rank = maker;
    d_.story =
        "rank " + std::to_string(maker) + " added the part of " + list(d_.ranks) + " a second time";
  }
  return worst != nullptr;
}

void Search::place(const std::vector<int>& missing) {
  d_.kind = FaultKind::missing;
  d_.ranks = missing;
  if (const auto elsewhere = finished_elsewhere()) {
    d_.kind = FaultKind::stale;
    d_.at_rank = d_.rank;
    const int since = history_.step_of_arrival(d_.rank, held_);
    d_.step = since < 0 ? history_.last_step(d_.rank) : since;
    d_.story = (since < 0 ? std::string("it was never written; no step brought the finished value")
                          : "it was written for the last time; no later step brought the "
                            "finished value") +
               ", which rank " + std::to_string(*elsewhere) + " has";
  }
  const auto passed = history_.first_passed_on(held_);
  const auto lost = history_.first_lost(missing);
  if (lost.rank >= 0 && (passed.rank < 0 || lost.step < passed.step)) {
    d_.at_rank = lost.rank;
    d_.step = lost.step;
    d_.story = "rank " + std::to_string(lost.rank) +
               " overwrote its own part, which nobody else had there";
  } else if (passed.rank >= 0) {
    d_.at_rank = passed.rank;
    d_.step = passed.step;
    d_.story = "rank " + std::to_string(passed.rank) +
               " got it as if it were finished, without the part of " + list(missing);
  } else if (d_.kind == FaultKind::missing) {
    d_.at_rank = d_.rank;
    d_.step = held_.is_leaf() ? history_.last_step(d_.rank) : expressions_.node(held_).step;
    d_.story = held_.is_leaf()
                   ? "nothing was ever added to it"
                   : "that was the last addition; the part of " + list(missing) + " never came";
  }
}

void Search::judge_reduction() {
  const auto leaves = expressions_.leaves(held_);
  std::map<int, int> times;
  std::vector<int> foreign;
  for (const Symbol leaf : leaves) {
    if (leaf.nothing() || leaf.index() != d_.element) {
      foreign.push_back(leaf.nothing() ? -1 : leaf.rank());
    } else {
      ++times[leaf.rank()];
    }
  }
  std::vector<int> missing;
  for (int r = 0; r < p_; ++r) {
    if (!times.contains(r)) {
      missing.push_back(r);
    }
  }
  if (held_.nothing()) {
    d_.kind = FaultKind::unwritten;
    d_.at_rank = d_.rank;
    d_.story = "nobody has written it";
  } else if (!foreign.empty()) {
    const bool all = times.empty();
    d_.kind = all ? FaultKind::misplaced : FaultKind::foreign;
    d_.ranks = foreign;
    d_.at_rank = held_.is_leaf() ? d_.rank : held_.rank();
    d_.step = all ? history_.step_of_arrival(d_.rank, held_) : expressions_.node(held_).step;
    d_.story = all ? "what belongs to another element came here"
                   : "an operand of another element was added";
  } else if (!find_twice(held_)) {
    if (const auto other = expressions_.other_than(held_, node_op(call_));
        missing.empty() && other) {
      d_.kind = FaultKind::operation;
      d_.at_rank = other->rank();
      d_.step = expressions_.node(*other).step;
      d_.story = "rank " + std::to_string(d_.at_rank) + " reduced with " +
                 std::string(name_of(expressions_.node(*other).op)) + ", the call asks for " +
                 std::string(name_of(call_.op));
    } else if (missing.empty()) {
      d_.kind = FaultKind::mislaid;
      d_.at_rank = d_.rank;
      d_.step = history_.last_step(d_.rank);
      d_.story = "the average divides by the wrong number of ranks, or not once";
    } else {
      place(missing);
    }
  }
}

void Search::judge_element(const Required& needed) {
  d_.at_rank = d_.rank;
  const int since = history_.step_of_arrival(d_.rank, held_);
  d_.step = since < 0 ? history_.last_step(d_.rank) : since;
  if (held_.nothing()) {
    d_.kind = FaultKind::unwritten;
    d_.story = "nobody has written it";
  } else if (held_ == Symbol::leaf(d_.rank, d_.element)) {
    d_.kind = FaultKind::stale;
    d_.ranks = {needed.rank};
    d_.story = "it still holds what it held before the call";
  } else {
    d_.kind = FaultKind::misplaced;
    const auto leaves = expressions_.leaves(held_);
    for (const Symbol leaf : leaves) {
      d_.ranks.push_back(leaf.nothing() ? -1 : leaf.rank());
    }
    d_.story = "what belongs elsewhere came here";
  }
}

}  // namespace

std::string_view name_of(FaultKind kind) {
  return kind_names[static_cast<std::size_t>(kind)];
}

std::string Diagnosis::text() const {
  std::string what(name_of(kind));
  if (!ranks.empty()) {
    what += ": " + list(ranks);
  }
  return "rank " + std::to_string(rank) + ", element " + std::to_string(element) + " (chunk " +
         std::to_string(chunk) + ") holds " + held + " instead of " + expected + ": " + what +
         "; in step " + std::to_string(step) + " of rank " + std::to_string(at_rank) + ": " + story;
}

bool holds_required(const Expressions& expressions, const CollectiveCall& call, int ranks, int rank,
                    std::size_t element, Symbol held) {
  const Required needed = required(call, ranks, rank, element);
  if (needed.kind == Required::anything) {
    return true;
  }
  if (needed.kind == Required::element) {
    return held == Symbol::leaf(needed.rank, needed.index);
  }
  if (call.op == ReduceOp::avg) {
    if (held.nothing() || held.is_leaf() ||
        expressions.node(held).divisor != static_cast<std::uint32_t>(ranks)) {
      return false;
    }
    held = expressions.node(held).left;
  }
  const auto leaves = expressions.leaves(held);
  if (leaves.size() != static_cast<std::size_t>(ranks) || expressions.divides(held) ||
      expressions.other_than(held, node_op(call))) {
    return false;
  }
  for (int r = 0; r < ranks; ++r) {
    if (leaves[static_cast<std::size_t>(r)] != Symbol::leaf(r, needed.index)) {
      return false;
    }
  }
  return true;
}

std::optional<Diagnosis> diagnose(const SymbolicRun& run, const Expressions& expressions,
                                  const CollectiveCall& call, std::size_t index_of_call, int rank,
                                  std::size_t element, std::optional<std::size_t> slot) {
  const auto& ranks = run.calls[index_of_call];
  const Symbol held = ranks[static_cast<std::size_t>(rank)].result[element];
  if (holds_required(expressions, call, static_cast<int>(ranks.size()), rank, element, held)) {
    return std::nullopt;
  }
  return Search(run, expressions, call, index_of_call, rank, element, slot.value_or(element)).run();
}

}  // namespace ringside
