#include "scenarios/near_miss.hpp"

#include <algorithm>
#include <vector>

namespace ringside {
namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// The part after the last '/' or '.'.
std::string_view last_part(std::string_view name) {
  const auto cut = name.find_last_of("/.");
  return cut == std::string_view::npos ? name : name.substr(cut + 1);
}

constexpr std::size_t longest = 100;  // names end here: a pasted novel is no slip

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Optimal string alignment, three rows at a time.
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before.swap(above);
    above.swap(row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
          lower(a[i - 2]) == lower(b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view name, std::span<const std::string> candidates) {
  if (name.size() > longest) {
    return {};
  }
  std::string best;
  std::size_t least = longest;
  const auto try_against = [&](const std::string& candidate, std::string_view form,
                               std::string_view wanted) {
    const std::size_t distance = edit_distance(wanted, form);
    const std::size_t limit = std::max<std::size_t>(1, wanted.size() / 3);
    // A name that shares no letter with the candidate is no slip of it.
    if (distance <= limit && distance < std::max(wanted.size(), form.size()) && distance < least) {
      least = distance;
      best = candidate;
    }
  };
  for (const auto& candidate : candidates) {
    try_against(candidate, candidate, name);
  }
  for (const auto& candidate : candidates) {
    try_against(candidate, last_part(candidate), last_part(name));
  }
  return best;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const std::string best = nearest(name, candidates);
  return best.empty() ? std::string() : "; did you mean " + best + "?";
}

std::string joined(std::span<const std::string> names, std::string_view separator) {
  std::string all;
  for (const auto& name : names) {
    all += (all.empty() ? "" : std::string(separator)) + name;
  }
  return all;
}

}  // namespace ringside
