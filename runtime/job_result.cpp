// What became of a job, in words: the cause first, then the others, grouped where they say the
// same, and few lines however many ranks there are.
#include <algorithm>
#include <chrono>

#include "runtime/errors.hpp"
#include "runtime/launch.hpp"
#include "runtime/rank_names.hpp"

namespace ringside {

namespace {

constexpr std::size_t most_lines = 16;

// What an error says after the name of its own rank, so that equal errors group.
std::string without_name(const std::string& text, int rank) {
  const std::string name = "rank " + std::to_string(rank) + ": ";
  return text.starts_with(name) ? text.substr(name.size()) : text;
}

std::string sentence_of(const RankOutcome& rank, int r) {
  switch (rank.ending) {
    case Ending::returned:
      return "returned";
    case Ending::threw:
      return "threw " + rank.type + (rank.text.empty() ? "" : ": " + without_name(rank.text, r));
    case Ending::exited:
    case Ending::killed:
    case Ending::silent:
      return rank.text;
    case Ending::stopped:
      return rank.text.empty() ? "stopped: another rank had failed" : rank.text;
  }
  return "";
}

struct Said {
  std::string sentence;
  std::vector<int> ranks;  // ascending

  std::string sentence_for_all() const {
    if (ranks.size() > 1 && sentence.starts_with("was ")) {
      return "were " + sentence.substr(4);
    }
    return ranks.size() > 1 && sentence == "stopped while it computed"
               ? "stopped while they computed"
               : sentence;
  }
};

bool is_described(const JobResult& result, int rank) {
  return result.failure
             ? std::binary_search(result.failure->ranks.begin(), result.failure->ranks.end(), rank)
             : rank == result.cause;
}

// The cause has been said once, and is left out of the sentences of those who stopped for it.
std::string sentence_without_cause(const JobResult& result, int r) {
  std::string sentence = sentence_of(result.ranks[static_cast<std::size_t>(r)], r);
  const std::string end = ": " + result.stopped_for;
  if (!result.stopped_for.empty() && sentence.ends_with(end)) {
    sentence.resize(sentence.size() - end.size());
  }
  return sentence;
}

std::vector<Said> grouped(const JobResult& result) {
  std::vector<Said> groups;
  for (int r = 0; r < static_cast<int>(result.ranks.size()); ++r) {
    if (is_described(result, r)) {
      continue;
    }
    const std::string sentence = sentence_without_cause(result, r);
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const Said& said) { return said.sentence == sentence; });
    if (same == groups.end()) {
      groups.push_back({sentence, {r}});
    } else {
      same->ranks.push_back(r);
    }
  }
  return groups;
}

// "5, 11".
std::string listed(const std::vector<int>& ranks) {
  std::string text;
  for (const int r : ranks) {
    text += (text.empty() ? "" : ", ") + std::to_string(r);
  }
  return text;
}

// Whether the others' last operations tell anything of this failure: not of a wrong use or a lack
// of memory, which a rank has by itself.
bool concerns_all(const JobResult& result) {
  const RankOutcome& cause = result.ranks[static_cast<std::size_t>(result.cause)];
  return result.failure || cause.ending != Ending::threw ||
         (cause.type != "BadUse" && cause.type != "OutOfDeviceMemory");
}

}  // namespace

std::string JobResult::describe() const {
  if (ok()) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(wall).count();
    return "all " + std::to_string(ranks.size()) + " ranks returned, after " + std::to_string(ms) +
           " ms";
  }
  std::string text = failure ? failure->text
                             : names_of({cause}) + " " +
                                   sentence_of(ranks[static_cast<std::size_t>(cause)], cause);
  if (!missing.empty() && missing != std::vector{cause}) {  // they, not those who waited for them
    text = "missing: " + listed(missing) + " (awaited, and not themselves waiting)\n  " + text;
  }
  const auto others = grouped(*this);
  std::vector<int> unsaid;
  for (std::size_t i = 0; i < others.size(); ++i) {
    if (i + 1 < most_lines || others.size() == most_lines) {
      text += "\n  " + names_of(others[i].ranks) + " " + others[i].sentence_for_all();
    } else {
      unsaid.insert(unsaid.end(), others[i].ranks.begin(), others[i].ranks.end());
    }
  }
  if (!unsaid.empty()) {
    std::sort(unsaid.begin(), unsaid.end());
    text += "\n  and " + std::to_string(unsaid.size()) + " more: " + names_of(unsaid);
  }
  const bool any_operation = std::any_of(
      last_seen.begin(), last_seen.end(),
      [](const LastSeen& rank) { return rank.current.has_value() || rank.finished.has_value(); });
  if (any_operation && concerns_all(*this)) {
    text += "\nlast operations" + text_of(last_seen);
  }
  return text;
}

void JobResult::raise() const {
  const std::string text = describe();
  if (ok()) {
    throw BadUse("raise() on a job that went well: " + text);
  }
  const RankOutcome& rank = ranks[static_cast<std::size_t>(cause)];
  const std::string type = failure                        ? failure->type
                           : rank.ending == Ending::threw ? rank.type
                                                          : "PeerLost";
  if (type == "BadUse") {
    throw BadUse(text);
  }
  if (type == "Desync") {
    throw Desync(text);
  }
  if (type == "Deadlock") {
    throw Deadlock(text);
  }
  if (type == "OutOfDeviceMemory") {
    throw OutOfDeviceMemory(text);
  }
  throw PeerLost(text);
}

}  // namespace ringside
