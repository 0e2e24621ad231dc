#include "runtime/last_seen.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/rank_names.hpp"

namespace ringside {

namespace {

constexpr std::size_t most_lines = 16;

std::string operations_text(const LastSeen& rank) {
  if (!rank.current && !rank.finished) {
    return "no operation begun";
  }
  std::string text = rank.current ? "in " + text_of(*rank.current) : "in none";
  return text + (rank.finished ? "; finished " + text_of(*rank.finished) : "; finished none");
}

struct Line {
  std::string state;
  std::string operations;
  std::vector<int> ranks;
  std::vector<int> pids;

  std::string text() const {
    const bool pids_differ = pids.size() < 2 || pids.front() != pids.back();
    return names_of(ranks) + " (" +
           (pids_differ ? (pids.size() == 1 ? "pid " : "pids ") + ranges_of(pids)
                        : "threads of pid " + std::to_string(pids.front())) +
           (state.empty() ? "" : ", " + state) + "): " + operations;
  }
};

std::vector<Line> lines_of(const std::vector<LastSeen>& ranks) {
  std::vector<Line> lines;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::string operations = operations_text(ranks[r]);
    auto same = std::find_if(lines.begin(), lines.end(), [&](const Line& line) {
      return line.state == ranks[r].state && line.operations == operations;
    });
    if (same == lines.end()) {
      same = lines.insert(lines.end(), {ranks[r].state, operations, {}, {}});
    }
    same->ranks.push_back(static_cast<int>(r));
    same->pids.push_back(ranks[r].pid);
  }
  return lines;
}

// Whether the last operation of some group that the rank has begun is before the one reached there.
bool is_behind(const RankState& rank, const std::map<std::uint64_t, std::uint64_t>& reached) {
  std::map<std::uint64_t, std::uint64_t> begun;
  for (const auto& entry : rank.operations.last()) {
    begun[entry.operation.group] = entry.operation.signature.sequence;
  }
  return std::any_of(begun.begin(), begun.end(), [&](const auto& of_group) {
    const auto found = reached.find(of_group.first);
    return found != reached.end() && found->second > of_group.second;
  });
}

}  // namespace

LastSeen last_seen_of(const RankState& rank, int pid, std::string state) {
  return {.pid = pid,
          .state = std::move(state),
          .current = rank.operations.current(),
          .finished = rank.operations.finished()};
}

std::vector<std::optional<WaitRecord>> pending_waits(SharedJob& job) {
  std::vector<std::optional<WaitRecord>> waits;
  for (int r = 0; r < job.ranks(); ++r) {
    auto wait = job.rank(r).waiting.read();
    if (wait && std::string_view(wait->kind).empty()) {
      wait.reset();
    }
    waits.push_back(wait);
  }
  return waits;
}

std::vector<int> missing_ranks(SharedJob& job) {
  std::vector<int> missing;
  const auto waits = pending_waits(job);
  std::set<int> awaited;
  std::map<std::uint64_t, std::uint64_t> reached;  // by group: the operation that somebody waits in
  for (std::size_t r = 0; r < waits.size(); ++r) {
    if (!waits[r]) {
      continue;
    }
    awaited.insert(waits[r]->peer);
    if (const auto current = job.rank(static_cast<int>(r)).operations.current()) {
      auto& sequence = reached[current->operation.group];
      sequence = std::max(sequence, current->operation.signature.sequence);
    }
  }
  for (int r = 0; r < job.ranks(); ++r) {
    const RankState& rank = job.rank(r);
    const bool excused =
        waits[static_cast<std::size_t>(r)] || rank.finished.load(std::memory_order_seq_cst);
    if (!excused && (awaited.count(r) > 0 || is_behind(rank, reached))) {
      missing.push_back(r);
    }
  }
  return missing;
}

std::string text_of(const std::vector<LastSeen>& ranks) {
  std::string text;
  const auto lines = lines_of(ranks);
  std::vector<int> unsaid;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i < most_lines) {
      text += "\n  " + lines[i].text();
    } else {
      unsaid.insert(unsaid.end(), lines[i].ranks.begin(), lines[i].ranks.end());
    }
  }
  if (!unsaid.empty()) {
    std::sort(unsaid.begin(), unsaid.end());
    text += "\n  and " + std::to_string(unsaid.size()) + " more: " + names_of(unsaid);
  }
  return text;
}

}  // namespace ringside
