// What the command line changes in a scenario, and whether the whole fits together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "scenarios/settings.hpp"

namespace ringside {

// One change: `flag` is how the user wrote it, for messages ("--seed 7", "--set train.lr=0.1").
struct Override {
  std::string flag;
  std::string key;
  std::string value;
};

// "key=value" of --set. Throws BadUse when it is not of that form.
Override parse_set(const std::string& text);

struct Overrides {
  std::vector<Override> set;         // in order: later wins
  std::optional<std::string> ranks;  // of --ranks
};

// Applies the changes, then resolves. `--ranks N` is one node of N GPUs, or, when
// cluster.gpus_per_node is set here too, as many nodes of that size as are needed, the last with
// what remains. Where the cluster is changed, parallel.dp follows unless it is set here too.
// Throws BadUse "--set train.steps=0: must be …".
void apply_overrides(Settings& settings, const Overrides& overrides);

// What the command line changed in a scenario: "ranks", keys, in the order given. What was set to
// the value that it had is not among them; nor are name and lesson.
std::vector<std::string> changed_by(const Overrides& overrides, Settings scenario,
                                    const Settings& run);

// Fills in what is left open (ranks, parallel.dp) and checks that the numbers agree. Throws BadUse
// "dp/ring: parallel.dp = 4, …" with the numbers and the nearest valid choices.
void resolve(Settings& settings);

// Throws BadUse "where: there is no such file" when a text to learn is missing, a folder or device,
// unreadable or empty, or when its path is not UTF-8, which scenario.toml could not hold.
void check_text_file(const std::string& path, const std::string& where);

}  // namespace ringside
