#include "scenarios/traffic_digest.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>

#include "runtime/errors.hpp"
#include "runtime/json_text.hpp"

namespace ringside {
namespace {

void count(TrafficCount& sum, std::int64_t bytes) {
  ++sum.messages;
  sum.bytes += bytes;
}

// "12345678  12.3 MB"
std::string both(std::int64_t bytes) {
  return fmt::format("{:>16}  {:>9}", bytes, to_string(Bytes{bytes}));
}

}  // namespace

bool TrafficDigest::larger(const Ranked& a, const Ranked& b) {
  return a.message.bytes != b.message.bytes ? a.message.bytes > b.message.bytes : a.place < b.place;
}

void TrafficDigest::add(const LoggedMessage& m) {
  if (m.bytes > std::numeric_limits<std::int64_t>::max() - all_.bytes) {
    throw BadUse("the bytes of the log's messages pass 2^63");
  }
  const auto place = static_cast<std::size_t>(all_.messages);
  count(all_, m.bytes);
  count(kinds_[{m.op, m.algorithm, m.group, m.link}], m.bytes);
  count(sent_[m.src], m.bytes);
  count(received_[m.dst], m.bytes);
  matrix_.add(m.src, m.dst, m.bytes);
  if (top_ == 0) {
    return;
  }
  if (heap_.size() == top_) {
    if (m.bytes <= heap_.front().message.bytes) {
      return;
    }
    std::pop_heap(heap_.begin(), heap_.end(), larger);
    heap_.pop_back();
  }
  heap_.push_back({place, m});
  std::push_heap(heap_.begin(), heap_.end(), larger);
}

std::vector<LoggedMessage> TrafficDigest::largest() const {
  auto order = heap_;
  std::sort(order.begin(), order.end(), larger);
  std::vector<LoggedMessage> messages;
  for (auto& ranked : order) {
    messages.push_back(std::move(ranked.message));
  }
  return messages;
}

std::string TrafficDigest::describe() const {
  if (all_.messages == 0) {
    return "no messages\n";
  }
  auto text = fmt::format("{:<36} {:<12} {:<7} {:>9} {:>16}\n", "operation", "group", "link",
                          "messages", "bytes");
  for (const auto& [kind, sum] : kinds_) {
    const auto operation =
        kind.algorithm.empty() ? kind.op : fmt::format("{} ({})", kind.op, kind.algorithm);
    text +=
        fmt::format("{:<36} {:<12} {:<7} {:>9} {}\n", json_escaped(operation),
                    json_escaped(kind.group), name_of(kind.link), sum.messages, both(sum.bytes));
  }
  text += fmt::format("{:<57} {:>9} {}\n\n", "all", all_.messages, both(all_.bytes));
  text += fmt::format("{:>6} {:>9} {:>16}  {:>9}  {:>9} {:>16}\n", "rank", "messages", "bytes sent",
                      "", "messages", "bytes received");
  for (const auto rank : matrix_.ranks()) {
    const auto of = [&](const std::map<int, TrafficCount>& counts) {
      const auto found = counts.find(rank);
      return found == counts.end() ? TrafficCount{} : found->second;
    };
    text += fmt::format("{:>6} {:>9} {}  {:>9} {}\n", rank, of(sent_).messages,
                        both(of(sent_).bytes), of(received_).messages, both(of(received_).bytes));
  }
  return text;
}

}  // namespace ringside
