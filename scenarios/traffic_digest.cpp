#include "scenarios/traffic_digest.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <set>

#include "runtime/errors.hpp"
#include "runtime/json_text.hpp"

namespace ringside {
namespace {

void count(TrafficCount& sum, const TrafficCount& more) {
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  if (more.bytes > largest - sum.bytes || more.messages > largest - sum.messages) {
    throw BadUse("the sum of the log's messages passes 2^63");
  }
  sum.messages += more.messages;
  sum.bytes += more.bytes;
}

// "12345678  12.3 MB"
std::string both(std::int64_t bytes) {
  return fmt::format("{:>16}  {:>9}", bytes, to_string(Bytes{bytes}));
}

// No run has so many; a damaged log could have one a line.
template <class Key>
TrafficCount& sum_of(std::map<Key, TrafficCount>& sums, const Key& key, std::string_view what) {
  constexpr std::size_t most = 65'536;
  if (sums.size() == most && !sums.contains(key)) {
    throw BadUse(
        fmt::format("the log has more than {} {}, which no run has: it is damaged", most, what));
  }
  return sums[key];
}

constexpr std::string_view of_kinds = "combinations of operation, algorithm, group and link";
constexpr std::string_view of_labels = "labels";

}  // namespace

bool TrafficDigest::larger(const Ranked& a, const Ranked& b) {
  return a.message.bytes != b.message.bytes ? a.message.bytes > b.message.bytes : a.place < b.place;
}

void TrafficDigest::add(const LoggedMessage& m) {
  const TrafficCount one{1, m.bytes};
  const auto place = static_cast<std::size_t>(all_.messages);
  count(all_, one);
  count(sum_of(kinds_, {m.op, m.algorithm, m.group, m.link}, of_kinds), one);
  count(sum_of(labels_, m.label, of_labels), one);
  count(sent_[m.src], one);
  count(received_[m.dst], one);
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

void TrafficDigest::add(int rank, const TrafficKind& kind, const std::string& label,
                        const TrafficCount& sent, const TrafficCount& received) {
  count(all_, received);
  count(sum_of(kinds_, kind, of_kinds), received);
  count(sum_of(labels_, label, of_labels), received);
  count(sent_[rank], sent);
  count(received_[rank], received);
}

std::vector<int> TrafficDigest::ranks() const {
  std::set<int> ranks;
  for (const auto* side : {&sent_, &received_}) {
    for (const auto& [rank, sum] : *side) {
      ranks.insert(rank);
    }
  }
  return {ranks.begin(), ranks.end()};
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

std::string TrafficDigest::describe_kinds() const {
  auto text = fmt::format("{:<36} {:<12} {:<7} {:>9} {:>16}\n", "operation", "group", "link",
                          "messages", "bytes");
  for (const auto& [kind, sum] : kinds_) {
    const auto operation =
        kind.algorithm.empty() ? kind.op : fmt::format("{} ({})", kind.op, kind.algorithm);
    text +=
        fmt::format("{:<36} {:<12} {:<7} {:>9} {}\n", json_escaped(operation),
                    json_escaped(kind.group), name_of(kind.link), sum.messages, both(sum.bytes));
  }
  return text;
}

std::string TrafficDigest::describe_labels() const {
  auto text = fmt::format("{:<57} {:>9} {:>16}\n", "label", "messages", "bytes");
  for (const auto& [label, sum] : labels_) {
    text += fmt::format("{:<57} {:>9} {}\n", label.empty() ? "(none)" : json_escaped(label),
                        sum.messages, both(sum.bytes));
  }
  return text;
}

std::string TrafficDigest::describe_ranks() const {
  auto text = fmt::format("{:>6} {:>9} {:>16}  {:>9}  {:>9} {:>16}\n", "rank", "messages",
                          "bytes sent", "", "messages", "bytes received");
  for (const auto rank : ranks()) {
    const auto of = [&](const std::map<int, TrafficCount>& counts) {
      const auto found = counts.find(rank);
      return found == counts.end() ? TrafficCount{} : found->second;
    };
    text += fmt::format("{:>6} {:>9} {}  {:>9} {}\n", rank, of(sent_).messages,
                        both(of(sent_).bytes), of(received_).messages, both(of(received_).bytes));
  }
  return text;
}

std::string TrafficDigest::describe(By first) const {
  if (all_.messages == 0) {
    return "no messages\n";
  }
  return (first == By::label ? describe_labels() : describe_kinds()) +
         fmt::format("{:<57} {:>9} {}\n\n", "all", all_.messages, both(all_.bytes)) +
         describe_ranks();
}

}  // namespace ringside
