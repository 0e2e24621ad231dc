#include "models/expert_choice.hpp"

#include <algorithm>
#include <cmath>

namespace ringside {

namespace {

// The places of the `count` largest, ascending; among equal ones the lowest. Of those allowed.
std::vector<std::size_t> largest(std::span<const double> keys, std::size_t count,
                                 std::vector<bool> allowed) {
  std::vector<std::size_t> chosen;
  while (chosen.size() < count) {
    std::size_t best = keys.size();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (allowed[i] && (best == keys.size() || keys[i] > keys[best])) {
        best = i;
      }
    }
    chosen.push_back(best);
    allowed[best] = false;
  }
  std::ranges::sort(chosen);
  return chosen;
}

double two_best(std::span<const double> keys) {
  const auto best =
      largest(keys, std::min<std::size_t>(2, keys.size()), std::vector<bool>(keys.size(), true));
  return best.size() == 1 ? keys[best[0]] : keys[best[0]] + keys[best[1]];
}

std::vector<bool> in_best_groups(std::span<const double> keys, const RouterConfig& config) {
  const std::size_t size = keys.size() / config.groups;
  std::vector<double> scores;
  for (std::size_t g = 0; g < config.groups; ++g) {
    scores.push_back(two_best(keys.subspan(g * size, size)));
  }
  std::vector<bool> eligible(keys.size(), false);
  for (const std::size_t g :
       largest(scores, config.top_groups, std::vector<bool>(config.groups, true))) {
    std::fill_n(eligible.begin() + static_cast<std::ptrdiff_t>(g * size), size, true);
  }
  return eligible;
}

}  // namespace

std::vector<std::size_t> choose_experts(std::span<const double> keys, std::size_t top_k,
                                        const RouterConfig& config) {
  const std::vector<bool> all(keys.size(), true);
  if (config.top_groups == 0 || config.top_groups == config.groups) {
    return largest(keys, top_k, all);
  }
  const auto eligible = in_best_groups(keys, config);
  if (!config.masked_groups_eligible) {
    return largest(keys, top_k, eligible);
  }
  std::vector<double> masked(keys.begin(), keys.end());
  for (std::size_t e = 0; e < masked.size(); ++e) {
    masked[e] = eligible[e] ? masked[e] : 0;
  }
  return largest(masked, top_k, all);
}

std::size_t Routing::dropped() const {
  return static_cast<std::size_t>(std::ranges::count(experts, -1));
}

ExpertCounts count_choices(const Routing& routing, std::size_t experts, std::size_t first,
                           std::size_t tokens) {
  ExpertCounts counts(experts, 0);
  for (const std::int32_t e :
       std::span(routing.experts).subspan(first * routing.top_k, tokens * routing.top_k)) {
    if (e >= 0) {
      ++counts[static_cast<std::size_t>(e)];
    }
  }
  return counts;
}

ExpertCounts count_choices(const Routing& routing, std::size_t experts) {
  return count_choices(routing, experts, 0, routing.tokens);
}

ExpertCounts counts_before(const std::vector<RunCounts>& group, std::size_t place,
                           std::size_t experts) {
  ExpertCounts before(experts, 0);
  for (const RunCounts& run : group) {
    if (run.place < place) {
      std::ranges::transform(before, run.counts, before.begin(), std::plus<>());
    }
  }
  return before;
}

std::int64_t expert_capacity(std::int64_t tokens, std::size_t top_k, double factor,
                             std::size_t experts) {
  return static_cast<std::int64_t>(
      std::ceil(static_cast<double>(tokens * static_cast<std::int64_t>(top_k)) * factor /
                static_cast<double>(experts)));
}

void drop_beyond(std::int64_t capacity, const ExpertCounts& before, Routing& routing,
                 std::size_t first, std::size_t tokens) {
  ExpertCounts taken = before;
  for (std::int32_t& e :
       std::span(routing.experts).subspan(first * routing.top_k, tokens * routing.top_k)) {
    if (e >= 0 && taken[static_cast<std::size_t>(e)]++ >= capacity) {
      e = -1;
    }
  }
}

}  // namespace ringside
