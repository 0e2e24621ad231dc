// What one rank sent and received: sums always, and a record per message when asked.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/message.hpp"

namespace ringside {

enum class LogLevel : std::uint8_t { full, summary, none };

// One message as its receiver saw it; a line of traffic.jsonl.
struct TrafficRecord {
  Envelope envelope;
  Time arrival{0};
  std::int64_t wall_ns = 0;  // since the job's start
};

// All messages of one kind that this rank exchanged.
struct TrafficSum {
  Text<32> group;
  Text<16> operation;
  Text<32> label;
  LinkClass link = LinkClass::self;
  std::int64_t sent_bytes = 0;
  std::int64_t sent_messages = 0;
  std::int64_t received_bytes = 0;
  std::int64_t received_messages = 0;
};

class Traffic {
 public:
  explicit Traffic(LogLevel level) : level_(level) {}

  void sent(const Envelope& envelope);
  void received(const Envelope& envelope, Time arrival, std::int64_t wall_ns);

  const std::vector<TrafficSum>& sums() const { return sums_; }

  const std::vector<TrafficRecord>& records() const { return records_; }

  // Called for each received message (the live view).
  std::function<void(const TrafficRecord&)> on_received;

 private:
  TrafficSum& sum_of(const Envelope& envelope);

  LogLevel level_;
  std::vector<TrafficSum> sums_;
  std::vector<TrafficRecord> records_;
  std::size_t last_ = 0;  // messages of one kind come in runs
};

}  // namespace ringside
