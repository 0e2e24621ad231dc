#include "scenarios/traffic_query.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <vector>

#include "runtime/errors.hpp"
#include "runtime/files/quoted.hpp"
#include "scenarios/near_miss.hpp"

namespace ringside {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& value,
                         const std::string& log, const std::string& what_does) {
  throw BadUse(option + " " + value + ": no such message in " + log + "; " +
               (what_does.empty() ? "the log is empty" : "it has " + shortened(what_does, 2'000)));
}

void check_name(const std::string& option, const std::string& name,
                const std::set<std::string, std::less<>>& occurring, const std::string& log) {
  if (!name.empty() && !occurring.contains(name)) {
    constexpr std::size_t most = 20;
    const std::vector<std::string> names(occurring.begin(), occurring.end());
    const auto shown = joined(
        {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(most, names.size()))});
    const auto more = names.size() > most ? fmt::format(" and {} more", names.size() - most) : "";
    refuse(option, name, log, shown + more + did_you_mean(name, names));
  }
}

// "0 to 7, 9".
std::string ranges(const std::set<std::int64_t>& numbers) {
  std::vector<std::string> parts;
  for (auto i = numbers.begin(); i != numbers.end();) {
    const auto first = *i;
    auto last = first;
    while (++i != numbers.end() && *i == last + 1) {
      last = *i;
    }
    parts.push_back(std::to_string(first) + (last > first ? " to " + std::to_string(last) : ""));
  }
  return joined(parts);
}

void check_number(const std::string& option, std::optional<int> number,
                  const std::set<std::int64_t>& occurring, const std::string& log) {
  if (number && !occurring.contains(*number)) {
    refuse(option, std::to_string(*number), log, ranges(occurring));
  }
}

}  // namespace

namespace {

bool names_label(const std::string& pattern, const std::string& label) {
  return pattern.ends_with('*') ? label.starts_with(pattern.substr(0, pattern.size() - 1))
                                : label == pattern;
}

}  // namespace

bool TrafficQuery::matches(const LoggedMessage& m) const {
  return (!rank || m.src == *rank || m.dst == *rank) && (op.empty() || m.op == op) &&
         (group.empty() || m.group == group) && (link.empty() || name_of(m.link) == link) &&
         (label.empty() || names_label(label, m.label)) && (!step || m.step == *step);
}

void TrafficNames::add(const LoggedMessage& message) {
  ranks_.insert(message.src);
  ranks_.insert(message.dst);
  steps_.insert(message.step);
  ops_.insert(message.op);
  groups_.insert(message.group);
  links_.emplace(name_of(message.link));
  labels_.insert(message.label);
}

void TrafficNames::check(const TrafficQuery& query, const std::string& log) const {
  check_number("--rank", query.rank, ranks_, log);
  check_name("--op", query.op, ops_, log);
  check_name("--group", query.group, groups_, log);
  check_name("--link", query.link, links_, log);
  const auto& label = query.label;
  if (std::ranges::none_of(labels_, [&](const auto& l) { return names_label(label, l); })) {
    check_name("--label", label, labels_, log);
  }
  check_number("--step", query.step, steps_, log);
}

}  // namespace ringside
