// Which messages of a log are asked for, and which names there are to ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "runtime/logged_message.hpp"

namespace ringside {

// What is empty is not asked.
struct TrafficQuery {
  std::optional<int> rank{};  // sent or received by it
  std::string op{}, group{}, link{};
  std::string label{};  // "layers.3.*": all that begin so
  std::optional<int> step{};

  bool matches(const LoggedMessage& message) const;
};

// The names and numbers that occur in a log.
class TrafficNames {
 public:
  void add(const LoggedMessage& message);

  // Throws BadUse for a query that names what does not occur, with what does. `log` names the log.
  void check(const TrafficQuery& query, const std::string& log) const;

 private:
  std::set<std::int64_t> ranks_, steps_;
  std::set<std::string, std::less<>> ops_, groups_, links_, labels_;
};

}  // namespace ringside
