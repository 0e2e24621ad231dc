#include "scenarios/traffic_matrix.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

#include "runtime/errors.hpp"

namespace ringside {

void TrafficMatrix::add(int src, int dst, std::int64_t bytes) {
  pairs_[{src, dst}] += bytes;
  sent_[src] += bytes;
  sent_[dst] += 0;
  received_[dst] += bytes;
  received_[src] += 0;
}

std::vector<int> TrafficMatrix::ranks() const {
  std::vector<int> ranks;
  for (const auto& [rank, bytes] : sent_) {
    ranks.push_back(rank);
  }
  return ranks;
}

void TrafficMatrix::require_readable() const {
  constexpr std::size_t most = 1024;
  if (sent_.size() > most) {
    throw BadUse(fmt::format(
        "--matrix: {0} ranks make {1} cells, and at most {2} x {2} are shown: choose messages "
        "with --group, --op or --rank, or leave --matrix out for the sums of each rank",
        sent_.size(), sent_.size() * sent_.size(), most));
  }
}

std::int64_t TrafficMatrix::bytes(int src, int dst) const {
  const auto found = pairs_.find({src, dst});
  return found == pairs_.end() ? 0 : found->second;
}

std::int64_t TrafficMatrix::sent_by(int rank) const {
  return sent_.at(rank);
}

std::int64_t TrafficMatrix::received_by(int rank) const {
  return received_.at(rank);
}

std::int64_t TrafficMatrix::total() const {
  std::int64_t total = 0;
  for (const auto& [rank, bytes] : sent_) {
    total += bytes;
  }
  return total;
}

std::string TrafficMatrix::describe() const {
  const auto all = ranks();
  std::vector<std::vector<std::string>> rows(1, {"from\\to"});
  for (const auto dst : all) {
    rows[0].push_back(std::to_string(dst));
  }
  rows[0].emplace_back("sum");
  for (const auto src : all) {
    auto& row = rows.emplace_back(1, std::to_string(src));
    for (const auto dst : all) {
      row.push_back(bytes(src, dst) == 0 ? "." : short_bytes(bytes(src, dst)));
    }
    row.push_back(short_bytes(sent_by(src)));
  }
  auto& sums = rows.emplace_back(1, "sum");
  for (const auto dst : all) {
    sums.push_back(short_bytes(received_by(dst)));
  }
  sums.push_back(short_bytes(total()));

  std::size_t width = 1;
  for (const auto& row : rows) {
    for (auto cell = row.begin() + 1; cell != row.end(); ++cell) {
      width = std::max(width, cell->size());
    }
  }
  std::string text = "bytes from a rank (row) to a rank (column); k = 10^3, M = 10^6, G = 10^9\n";
  for (const auto& row : rows) {
    text += fmt::format("{:>7}", row[0]);
    for (auto cell = row.begin() + 1; cell != row.end(); ++cell) {
      text += fmt::format(" {:>{}}", *cell, width);
    }
    text += '\n';
  }
  return text;
}

std::string short_bytes(std::int64_t bytes) {
  constexpr std::int64_t exact = 10'000;
  if (bytes < exact) {
    return std::to_string(bytes);
  }
  auto value = static_cast<double>(bytes) / 1000;
  std::string_view units = "kMGTPE";
  while (value >= 999.5) {
    value /= 1000;
    units.remove_prefix(1);
  }
  return fmt::format("{:.{}f}{}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, units[0]);
}

}  // namespace ringside
