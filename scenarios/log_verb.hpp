// `ringside log RUN`: reads, filters and sums the traffic log of a run; of one that kept no
// messages, the sums in its summary.json.
#pragma once

#include <optional>
#include <string>

namespace ringside {

struct LogRequest {
  std::string run{};                  // a run folder, a traffic.jsonl, or "latest"
  std::optional<int> rank{};          // sent or received by it
  std::string op{}, group{}, link{};  // empty: all
  std::string label{};                // "layers.3.*": all that begin so
  std::optional<int> step{};
  int top = 0;            // only the N largest messages; 0: all, in order
  bool by_label = false;  // sums by label in place of operation, group and link
  bool matrix = false;    // the bytes from each rank to each rank, in place of the lines
  bool json = false;      // one JSON document in place of text
};

// Prints on stdout; returns the exit code, 0. Throws BadUse: no such run, no log in it, a rank,
// operation, group, label, step or link that does not occur (with those that do), a line that is no
// message.
int log_verb(const LogRequest& request);

}  // namespace ringside
