#include "scenarios/run_memory.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace ringside {

namespace {

using ByCategory = Ledger::ByCategory;

constexpr std::size_t most_kinds = 3;  // of ranks, that are shown

std::int64_t total(const ByCategory& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

bool same(const Ledger& a, const Ledger& b) {
  return a.at_start == b.at_start && a.at_peak == b.at_peak && a.at_end == b.at_end;
}

// Ranks [first, last] that hold the same.
struct Kind {
  std::size_t first = 0;
  std::size_t last = 0;
  const Ledger* ledger = nullptr;
};

std::vector<Kind> kinds_of(const JobResult& job) {
  std::vector<Kind> kinds;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const Ledger& ledger = job.ranks[r].report.memory;
    if (kinds.empty() || !same(*kinds.back().ledger, ledger)) {
      kinds.push_back({r, r, &ledger});
    }
    kinds.back().last = r;
  }
  return kinds;
}

std::string line(const std::string& who, const char* when, const ByCategory& bytes) {
  std::string text = fmt::format("  {:8} {:13}", who, when);
  for (const std::int64_t b : bytes) {
    text += fmt::format(" {:>15}", b);
  }
  return text + fmt::format(" {:>15}\n", total(bytes));
}

std::string lines(const Kind& kind) {
  const std::string ranks = kind.first == kind.last ? std::to_string(kind.first)
                                                    : fmt::format("{}-{}", kind.first, kind.last);
  return line(ranks, "at the start", kind.ledger->at_start) +
         line("", "at its peak", kind.ledger->at_peak) +
         line("", "at the end", kind.ledger->at_end);
}

std::string heading() {
  std::string text = fmt::format("  {:8} {:13}", "rank", "holds (bytes)");
  for (std::size_t c = 0; c < category_count; ++c) {
    text += fmt::format(" {:>15}", name_of(static_cast<Category>(c)));
  }
  return text + fmt::format(" {:>15}\n", "in all");
}

}  // namespace

std::string memory_text(const JobResult& job) {
  const auto kinds = kinds_of(job);
  if (kinds.empty()) {
    return "";
  }
  std::string text = heading();
  if (kinds.size() <= most_kinds) {
    for (const Kind& kind : kinds) {
      text += lines(kind);
    }
    return text;
  }
  const auto [least, most] = std::ranges::minmax_element(
      kinds, {}, [](const Kind& kind) { return kind.ledger->total_peak; });
  return text + lines(*most) + lines(*least) +
         fmt::format(
             "  the ranks with the most and the least at their peak, of {} kinds; "
             "summary.json has all\n",
             kinds.size());
}

nlohmann::json memory_json(const JobResult& job) {
  auto ranks = nlohmann::json::array();
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    const Ledger& ledger = job.ranks[r].report.memory;
    nlohmann::json row{{"rank", r},
                       {"start_bytes", total(ledger.at_start)},
                       {"peak_bytes", ledger.total_peak},
                       {"end_bytes", total(ledger.at_end)}};
    for (std::size_t c = 0; c < category_count; ++c) {
      std::string key(name_of(static_cast<Category>(c)));
      std::replace(key.begin(), key.end(), ' ', '_');
      row["categories"][key] = {{"start_bytes", ledger.at_start[c]},
                                {"peak_bytes", ledger.peak[c]},
                                {"at_peak_bytes", ledger.at_peak[c]},
                                {"end_bytes", ledger.at_end[c]},
                                {"current_bytes", ledger.at_end[c]}};
    }
    ranks.push_back(row);
  }
  return ranks;
}

}  // namespace ringside
