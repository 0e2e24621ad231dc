#include "scenarios/command_line.hpp"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "runtime/errors.hpp"
#include "scenarios/collective_verb.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/near_miss.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/requests.hpp"
#include "scenarios/terminal.hpp"

namespace ringside {
namespace {

using Words = std::vector<std::string>;

int print(const std::string& text) {
  std::cout << text;
  return exit_ok;
}

template <class Request>
int run_or_help(const Asked<Request>& asked, int (*verb)(const Request&)) {
  return asked.request ? verb(*asked.request) : print(asked.help);
}

int run_named(const std::string& verb, const Words& words) {
  if (verb == "list") {
    return run_or_help(asked_list(words), list_verb);
  }
  if (verb == "run") {
    return run_or_help(asked_run(words), run_verb);
  }
  if (verb == "log") {
    return run_or_help(asked_log(words), log_verb);
  }
  if (verb == "prove") {
    return run_or_help(asked_prove(words), prove_verb);
  }
  if (verb == "explain") {
    return run_or_help(asked_explain(words), explain_verb);
  }
  if (verb == "collective") {
    return run_or_help(asked_collective(words), collective_verb);
  }
  if (verb == "schedule") {
    return run_or_help(asked_schedule(words), schedule_verb);
  }
  if (verb == "mesh") {
    return run_or_help(asked_mesh(words), mesh_verb);
  }
  if (verb == "parity") {
    return run_or_help(asked_parity(words), parity_verb);
  }
  if (verb == "figures") {
    return run_or_help(asked_figures(words), figures_verb);
  }
  if (verb == "tour") {
    return run_or_help(asked_tour(words), tour_verb);
  }
  if (verb == "clean") {
    return run_or_help(asked_clean(words), clean_verb);
  }
  const auto names = verb_names();
  const std::string kind = verb.starts_with("-") ? "flag before a verb" : "verb";
  throw BadUse("there is no " + kind + " " + verb + did_you_mean(verb, names) + " (verbs are " +
               joined(names) + "; `ringside --help` says more)");
}

// `help`, `help run`, `--help` and nothing at all ask for help.
int dispatch(const Words& words) {
  const auto is = [&](std::size_t at, std::initializer_list<const char*> names) {
    return at < words.size() && std::find(names.begin(), names.end(), words[at]) != names.end();
  };
  if (words.empty() || is(0, {"--help", "-h"}) || (is(0, {"help"}) && words.size() == 1)) {
    return print(help_text());
  }
  if (is(0, {"--version", "version"})) {
    return print(version_text());
  }
  if (is(0, {"help"})) {
    return run_named(words[1], {"--help"});
  }
  return run_named(words[0], {words.begin() + 1, words.end()});
}

int report(const Failure& failure, const Words& words) {
  std::cout.flush();
  std::cerr << "ringside: " << printable(failure.text) << '\n';
  if (std::find(words.begin(), words.end(), "--json") != words.end()) {
    const nlohmann::ordered_json document{
        {"verb", words.front().starts_with("-") ? "" : words.front()},
        {"verdict", failure.verdict},
        {"error", failure.text}};
    std::cout << printed_json(document);
  }
  return failure.exit_code;
}

}  // namespace

int command_line(const std::vector<std::string>& words) {
  int code = exit_ok;
  try {
    code = dispatch(words);
  } catch (...) {
    code = report(failure_of(std::current_exception()), words);
  }
  if (!std::cout.flush() && !stdout_reader_has_left()) {
    std::cerr << "ringside: stdout cannot be written\n";
    return code == exit_ok ? exit_bad_use : code;
  }
  return code;
}

}  // namespace ringside
