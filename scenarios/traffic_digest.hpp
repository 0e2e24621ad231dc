// The sums of the messages of a log: by operation, group and link, by label, by rank, by pair of
// ranks, and the largest messages.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/logged_message.hpp"
#include "scenarios/traffic_matrix.hpp"

namespace ringside {

struct TrafficKind {
  std::string op, algorithm, group;
  LinkClass link = LinkClass::self;
  auto operator<=>(const TrafficKind&) const = default;
};

struct TrafficCount {
  std::int64_t messages = 0;
  std::int64_t bytes = 0;
};

class TrafficDigest {
 public:
  explicit TrafficDigest(std::size_t top) : top_(top) {}

  // Throws BadUse when the bytes of the whole log pass 2^63.
  void add(const LoggedMessage& message);

  // All that a rank sent and received of one kind, for a run whose messages were not kept: no
  // matrix and no largest messages then.
  void add(int rank, const TrafficKind& kind, const std::string& label, const TrafficCount& sent,
           const TrafficCount& received);

  const TrafficCount& all() const { return all_; }

  const std::map<TrafficKind, TrafficCount>& kinds() const { return kinds_; }

  const std::map<std::string, TrafficCount>& labels() const { return labels_; }

  const std::map<int, TrafficCount>& sent() const { return sent_; }  // by rank

  const std::map<int, TrafficCount>& received() const { return received_; }

  std::vector<int> ranks() const;  // that sent or received

  const TrafficMatrix& matrix() const { return matrix_; }

  // The largest messages, largest first; of equal ones those that come first in the log.
  std::vector<LoggedMessage> largest() const;

  enum class By { kind, label };

  // Two tables, by kind or by label and by rank, with the sum of all.
  std::string describe(By first) const;

 private:
  struct Ranked {
    std::size_t place = 0;  // in the log
    LoggedMessage message;
  };

  std::string describe_kinds() const;
  std::string describe_labels() const;
  std::string describe_ranks() const;

  static bool larger(const Ranked& a, const Ranked& b);

  std::size_t top_;
  TrafficCount all_;
  std::map<TrafficKind, TrafficCount> kinds_;
  std::map<std::string, TrafficCount> labels_;
  std::map<int, TrafficCount> sent_, received_;
  TrafficMatrix matrix_;
  std::vector<Ranked> heap_;  // the smallest of the largest first
};

}  // namespace ringside
