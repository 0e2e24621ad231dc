#include "runtime/traffic.hpp"

namespace ringside {

// The search starts at the last one found: messages of one kind come in runs, and kinds recur in
// the same order at every training step.
TrafficSum& Traffic::sum_of(const Envelope& envelope) {
  for (std::size_t tried = 0; tried < sums_.size(); ++tried, last_ = (last_ + 1) % sums_.size()) {
    const auto& sum = sums_[last_];
    if (sum.link == envelope.link && sum.label.same(envelope.signature.label) &&
        sum.operation.same(envelope.signature.operation) && sum.group.same(envelope.group_name)) {
      return sums_[last_];
    }
  }
  last_ = sums_.size();
  auto& sum = sums_.emplace_back();
  sum.group = envelope.group_name;
  sum.operation = envelope.signature.operation;
  sum.label = envelope.signature.label;
  sum.link = envelope.link;
  return sum;
}

void Traffic::sent(const Envelope& envelope) {
  auto& sum = sum_of(envelope);
  sum.sent_bytes += static_cast<std::int64_t>(envelope.bytes);
  ++sum.sent_messages;
}

void Traffic::received(const Envelope& envelope, Time arrival, std::int64_t wall_ns) {
  auto& sum = sum_of(envelope);
  sum.received_bytes += static_cast<std::int64_t>(envelope.bytes);
  ++sum.received_messages;
  if (level_ != LogLevel::full && !on_received) {
    return;
  }
  const TrafficRecord record{envelope, arrival, wall_ns};
  if (level_ == LogLevel::full) {
    records_.push_back(record);
  }
  if (on_received) {
    on_received(record);
  }
}

}  // namespace ringside
