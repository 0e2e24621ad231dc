#include "runtime/deadlock_text.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace ringside {

namespace {

constexpr std::size_t most_lines = 16;
constexpr std::size_t most_in_cycle = 64;

using Looks = std::span<const RankLook>;

const RankLook& look_at(Looks looks, int rank) {
  return looks[static_cast<std::size_t>(rank)];
}

// "rank 0 -> 2 -> 3 -> 1 -> 0".
std::string arrows(const std::vector<int>& cycle) {
  std::string text = "rank ";
  for (std::size_t i = 0; i < std::min(cycle.size(), most_in_cycle); ++i) {
    text += std::to_string(cycle[i]) + " -> ";
  }
  if (cycle.size() > most_in_cycle) {
    text += "(" + std::to_string(cycle.size() - most_in_cycle) + " more) -> ";
  }
  return text + std::to_string(cycle.front());
}

// ", which has ended" of the awaited ranks that have.
std::string ended_text(Looks looks, int rank) {
  std::string text;
  for (const int target : look_at(looks, rank).awaited) {
    if (look_at(looks, target).ended) {
      text += (text.empty() ? "rank " : ", ") + std::to_string(target);
    }
  }
  return text.empty() ? text : "waits for " + text + ", which has ended";
}

bool sends(const RankLook& look) {
  return std::string_view(look.wait.kind) == "send";
}

bool is_launched(const RankLook& look) {
  return !std::string_view(look.wait.operation).empty();
}

std::string names(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ranks.size(), most_lines); ++i) {
    text += (i == 0 ? "" : i + 1 == ranks.size() ? " and " : ", ") + std::to_string(ranks[i]);
  }
  return ranks.size() > most_lines ? text + " …" : text;
}

// What to do about one cycle.
std::string advice(Looks looks, const std::vector<int>& cycle) {
  const auto of = [&](bool (*property)(const RankLook&)) {
    return static_cast<std::size_t>(std::count_if(
        cycle.begin(), cycle.end(), [&](int r) { return property(look_at(looks, r)); }));
  };
  if (of(is_launched) == 0 && of(sends) == cycle.size()) {
    return names(cycle) + (cycle.size() == 2 ? " both in send" : " all in send") +
           ", no receive posted: send with isend or send_recv, or let one receive first";
  }
  if (of(is_launched) > 0 && of(is_launched) < cycle.size()) {
    return "a launch is a blocking collective: send all that peers need in order to reach it "
           "before launching";
  }
  std::set<std::string_view> groups;
  for (const int r : cycle) {
    groups.insert(look_at(looks, r).wait.group);
  }
  if (of(is_launched) == cycle.size() && groups.size() > 1) {
    return "every rank must call the operations of its groups in an order that fits all members";
  }
  return "";
}

std::string rank_line(Looks looks, int rank) {
  std::string text = "rank " + std::to_string(rank) + ": " + text_of(look_at(looks, rank).wait);
  const std::string ended = ended_text(looks, rank);
  return ended.empty() ? text : text + "; " + ended;
}

// Those of the cycles first, in their order.
std::vector<int> in_order(const std::vector<std::vector<int>>& cycles,
                          const std::vector<int>& stuck) {
  std::vector<int> order;
  for (const auto& cycle : cycles) {
    order.insert(order.end(), cycle.begin(), cycle.end());
  }
  const std::set<int> said(order.begin(), order.end());
  std::copy_if(stuck.begin(), stuck.end(), std::back_inserter(order),
               [&](int r) { return said.count(r) == 0; });
  return order;
}

}  // namespace

std::string deadlock_headline(Looks looks, const std::vector<int>& stuck) {
  std::string text;
  for (const auto& cycle : wait_cycles(looks, stuck)) {
    text += (text.empty() ? "" : "; ") + arrows(cycle);
  }
  for (const int r : stuck) {
    if (const std::string ended = ended_text(looks, r); !ended.empty() && text.empty()) {
      text += "rank " + std::to_string(r) + " " + ended;
    }
  }
  return "deadlock: " + text;
}

std::string deadlock_text(Looks looks, const std::vector<int>& stuck) {
  const auto cycles = wait_cycles(looks, stuck);
  std::string text = deadlock_headline(looks, stuck);
  const auto order = in_order(cycles, stuck);
  for (std::size_t i = 0; i < std::min(order.size(), most_lines); ++i) {
    text += "\n  " + rank_line(looks, order[i]);
  }
  if (order.size() > most_lines) {
    text += "\n  and " + std::to_string(order.size() - most_lines) + " more that wait for these";
  }
  std::set<std::string> said;
  for (const auto& cycle : cycles) {
    if (const std::string what = advice(looks, cycle); !what.empty() && said.insert(what).second) {
      text += "\n  " + what;
    }
  }
  return text;
}

}  // namespace ringside
