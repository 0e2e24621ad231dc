#include "runtime/traffic.hpp"

#include <algorithm>

namespace ringside {

TrafficSum& Traffic::sum_of(const Envelope& envelope) {
  const auto matches = [&](const TrafficSum& sum) {
    return sum.link == envelope.link &&
           std::string_view(sum.operation) == envelope.signature.operation &&
           std::string_view(sum.label) == envelope.signature.label &&
           std::string_view(sum.group) == envelope.group_name;
  };
  if (last_ < sums_.size() && matches(sums_[last_])) {
    return sums_[last_];
  }
  const auto found = std::find_if(sums_.begin(), sums_.end(), matches);
  last_ = static_cast<std::size_t>(found - sums_.begin());
  if (found == sums_.end()) {
    TrafficSum sum;
    sum.group = envelope.group_name;
    sum.operation = envelope.signature.operation;
    sum.label = envelope.signature.label;
    sum.link = envelope.link;
    sums_.push_back(sum);
  }
  return sums_[last_];
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
