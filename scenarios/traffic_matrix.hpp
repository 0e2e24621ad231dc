// Who sent how much to whom.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ringside {

class TrafficMatrix {
 public:
  void add(int src, int dst, std::int64_t bytes);

  std::vector<int> ranks() const;  // that sent or received

  // Throws BadUse, with the numbers, when there are so many ranks that nobody can read it.
  void require_readable() const;
  std::int64_t bytes(int src, int dst) const;
  std::int64_t sent_by(int rank) const;
  std::int64_t received_by(int rank) const;
  std::int64_t total() const;

  // A table with a row for each sender, a column for each receiver, and the sums of both.
  std::string describe() const;

 private:
  std::map<std::pair<int, int>, std::int64_t> pairs_;
  std::map<int, std::int64_t> sent_, received_;  // of every rank that occurs
};

// At most five characters: "9999", "12.5k", "3.21M", with k = 10^3 and so on.
std::string short_bytes(std::int64_t bytes);

}  // namespace ringside
