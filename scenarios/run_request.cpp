// The flags of `run`.

#include <spdlog/fmt/fmt.h>

#include <array>

#include "collectives/collectives.hpp"
#include "runtime/errors.hpp"
#include "scenarios/flag_values.hpp"
#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/near_miss.hpp"
#include "scenarios/overrides.hpp"
#include "scenarios/requests.hpp"
#include "scenarios/scenario_file.hpp"

namespace ringside {
namespace {

using Given = std::optional<std::string>;

// A flag that is another name of a key.
struct KeyFlag {
  const char* flag;
  const char* what;
  const char* key;
  const char* meaning;
};

constexpr std::array<KeyFlag, 13> key_flags{{
    {"--text", "FILE", "data.text",
     "learn this file; sample 0 of step 0 stays the course's sentence"},
    {"--seed", "N", "train.seed", "seed of weights and data"},
    {"--save", "DIR", "train.save", "keep a checkpoint in this folder"},
    {"--resume", "DIR", "train.resume", "go on from the checkpoint in this folder"},
    {"--all-reduce", "NAME", "collectives.all_reduce", "algorithm of all-reduce"},
    {"--reduce-scatter", "NAME", "collectives.reduce_scatter", "algorithm of reduce-scatter"},
    {"--all-gather", "NAME", "collectives.all_gather", "algorithm of all-gather"},
    {"--all-to-all", "NAME", "collectives.all_to_all", "algorithm of all-to-all"},
    {"--broadcast", "NAME", "collectives.broadcast", "algorithm of broadcast"},
    {"--reduce", "NAME", "collectives.reduce", "algorithm of reduce"},
    {"--gather", "NAME", "collectives.gather", "algorithm of gather"},
    {"--scatter", "NAME", "collectives.scatter", "algorithm of scatter"},
    {"--barrier", "NAME", "collectives.barrier", "algorithm of barrier"},
}};

// All that can be said after `run`, as text.
struct RunWords {
  Given scenario, ranks, eager_limit, pace, log, trace, out, timeout, lang;
  std::vector<std::string> set;
  std::array<Given, key_flags.size()> keys;
  bool json = false, verbose = false, zh = false;
};

// ": auto, naive, ring" for a key that takes the name of an algorithm.
std::string algorithms_of(std::string_view key) {
  std::vector<std::string> names;
  for (const auto& row : operation_rows()) {
    if (key == fmt::format("collectives.{}", row.operation)) {
      names.emplace_back(row.algorithm);
    }
  }
  return names.empty() ? "" : ": auto, " + joined(names);
}

void declare(Flags& flags, RunWords& words) {
  flags.word("NAME", words.scenario, "a scenario, such as dp/ring, or the path of a .toml file");
  flags.value("--ranks", "N", words.ranks,
              "one node of N GPUs, or nodes of the cluster.gpus_per_node in --set");
  flags.values("--set", "KEY=VALUE", words.set,
               "change a key of the scenario (docs/formats.md); may be repeated");
  for (std::size_t i = 0; i < key_flags.size(); ++i) {
    flags.value(key_flags[i].flag, key_flags[i].what, words.keys[i],
                fmt::format("{} ({}){}", key_flags[i].meaning, key_flags[i].key,
                            algorithms_of(key_flags[i].key)));
  }
  flags.value("--eager-limit", "BYTES", words.eager_limit,
              "up to this a payload is copied and no send waits; 1024");
  flags.value("--pace", "S", words.pace, "wall seconds per modelled second; 0: full speed");
  flags.value("--log", "full|summary|none", words.log,
              "what to keep of the traffic: every message (up to a million), sums, nothing");
  flags.value("--trace", "on|off|BYTES", words.trace,
              "with --log full: write trace.json for Perfetto, if it is not larger; on: 100 MB");
  flags.value("--out", "DIR", words.out, "the run folder; else a new one under runs/");
  flags.value("--timeout", "S", words.timeout, "longest wait of a rank in seconds; 30");
  flags.flag("--json", words.json, "one JSON document on stdout");
  flags.value("--lang", "en|zh", words.lang, "language of the lesson; else that of LANG");
  flags.flag("--zh", words.zh, "the same as --lang zh");
  flags.flag("-v,--verbose", words.verbose, "a line per message on stderr");
}

std::optional<LogLevel> log_level(const Given& text) {
  if (!text) {
    return std::nullopt;
  }
  const auto name = choice_of("--log", *text, {"full", "summary", "none"});
  return name == "full" ? LogLevel::full : name == "none" ? LogLevel::none : LogLevel::summary;
}

std::int64_t trace_limit(const Given& text) {
  if (!text || *text == "on") {
    return default_trace_limit;
  }
  if (*text == "off") {
    return 0;
  }
  try {
    return static_cast<std::int64_t>(bytes_of("--trace", *text));
  } catch (const BadUse&) {
    throw BadUse(
        fmt::format("--trace {}: must be on, off or the most bytes of trace.json, such as "
                    "\"100 MB\"",
                    *text));
  }
}

Overrides overrides_of(const RunWords& words) {
  Overrides overrides{.set = {}, .ranks = words.ranks};
  for (const auto& text : words.set) {
    overrides.set.push_back(parse_set(text));
  }
  // After --set: a flag of its own wins.
  for (std::size_t i = 0; i < key_flags.size(); ++i) {
    if (const auto& value = words.keys[i]) {
      const auto& [flag, what, key, meaning] = key_flags[i];
      if (value->empty()) {
        throw BadUse(fmt::format("{}: must be followed by {}, not by an empty word", flag, what));
      }
      overrides.set.push_back({fmt::format("{} {}", flag, *value), key, *value});
    }
  }
  return overrides;
}

RunRequest request_of(const RunWords& words) {
  RunRequest request;
  request.scenario = words.scenario.value();
  request.settings = load_scenario(find_scenario(request.scenario));
  const Settings scenario = request.settings;
  const Overrides overrides = overrides_of(words);
  apply_overrides(request.settings, overrides);
  request.changed = changed_by(overrides, scenario, request.settings);
  if (const auto& peer = request.settings.checks.peer; !peer.empty()) {
    try {
      find_scenario(peer);
    } catch (const BadUse& refusal) {
      throw BadUse(
          fmt::format("{}: checks.peer = {}: {}", request.settings.name, peer, refusal.what()));
    }
  }
  if (words.eager_limit) {
    request.eager_limit = bytes_of("--eager-limit", *words.eager_limit);
  }
  if (words.pace) {
    request.pace = number_of("--pace", *words.pace, {.low = 0, .high = 1e12});
  }
  if (words.timeout) {
    const double seconds = number_of("--timeout", *words.timeout, {.low = 0.001, .high = 1e6});
    request.timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }
  request.log = log_level(words.log);
  request.trace_limit = trace_limit(words.trace);
  request.language = language_of(words.lang, words.zh);
  if (words.out) {
    request.out = folder_of("--out", *words.out);
  }
  request.json = words.json;
  request.verbose = words.verbose;
  return request;
}

}  // namespace

Asked<RunRequest> asked_run(const std::vector<std::string>& after_verb) {
  RunWords words;
  Flags flags("run", "ringside run NAME [flags]", meaning_of("run"), examples_of("run"));
  declare(flags, words);
  if (!flags.parse(after_verb)) {
    return {std::nullopt, flags.help()};
  }
  if (!words.scenario) {
    throw BadUse("run: which scenario? `ringside list` shows all");
  }
  return {request_of(words), {}};
}

}  // namespace ringside
