#include "runtime/undelivered.hpp"

#include <map>
#include <string>
#include <tuple>

#include "runtime/rank_names.hpp"

namespace ringside {

namespace {

struct Balance {
  std::int64_t open = 0;  // messages sent and not received
  std::vector<int> senders{};
};

// Group, operation, label.
using Kind = std::tuple<std::string, std::string, std::string>;

std::string sentence(const Kind& kind, const Balance& balance) {
  const auto& [group, operation, label] = kind;
  return std::to_string(balance.open) + (balance.open == 1 ? " message of " : " messages of ") +
         (operation.empty() ? "send" : operation) + " on group " + group +
         (label.empty() ? "" : " (" + label + ")") + " " + (balance.open == 1 ? "was" : "were") +
         " sent and never received; of that kind " + names_of(balance.senders) + " sent";
}

}  // namespace

std::optional<JobFailure> undelivered(const std::vector<RankOutcome>& ranks) {
  std::map<Kind, Balance> kinds;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const TrafficSum& sum : ranks[r].report.sums) {
      Balance& balance = kinds[{std::string(std::string_view(sum.group)),
                                std::string(std::string_view(sum.operation)),
                                std::string(std::string_view(sum.label))}];
      balance.open += sum.sent_messages - sum.received_messages;
      if (sum.sent_messages > 0 &&
          (balance.senders.empty() || balance.senders.back() != static_cast<int>(r))) {
        balance.senders.push_back(static_cast<int>(r));
      }
    }
  }
  for (const auto& [kind, balance] : kinds) {
    if (balance.open != 0) {
      const std::string headline = "mismatch: " + sentence(kind, balance);
      return JobFailure{
          .type = "Desync", .headline = headline, .text = headline, .ranks = balance.senders};
    }
  }
  return std::nullopt;
}

}  // namespace ringside
