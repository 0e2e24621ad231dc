// The flags of `prove`.

#include <algorithm>

#include "runtime/errors.hpp"
#include "scenarios/flag_values.hpp"
#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/near_miss.hpp"
#include "scenarios/requests.hpp"

namespace ringside {
namespace {

using Given = std::optional<std::string>;

struct ProveWords {
  Given operation, algorithm, ranks, count, gpus_per_node, timeout;
  bool json = false;
};

void declare(Flags& flags, ProveWords& words) {
  const auto names = operation_names();
  flags.word("OPERATION", words.operation,
             "one of " + joined(std::vector<std::string>(names.begin(), names.end())) +
                 "; all when left out");
  flags.value("--algorithm", "NAME", words.algorithm, "one row of the operation's table");
  flags.value("--ranks", "N|A-B", words.ranks, "numbers of ranks; 1-9");
  flags.value("--count", "N,N…", words.count,
              "elements; 0, 1, p-1, p, p+1, 997 and 1000, p being the ranks");
  flags.value("--gpus-per-node", "N", words.gpus_per_node,
              "ranks of a node; one node, and for hierarchical algorithms nodes of 2 and of 3");
  flags.value("--timeout", "S", words.timeout, "longest wait of a rank in seconds; 10");
  flags.flag("--json", words.json, "one JSON document on stdout");
}

std::vector<OperationRow> rows_of(const ProveWords& words) {
  const auto known = operation_names();
  const std::vector<std::string> operations(known.begin(), known.end());
  if (words.operation &&
      std::find(operations.begin(), operations.end(), *words.operation) == operations.end()) {
    throw BadUse("there is no operation " + *words.operation +
                 did_you_mean(*words.operation, operations) + " (operations are " +
                 joined(operations) + ")");
  }
  std::vector<OperationRow> rows;
  std::vector<std::string> algorithms;
  for (const OperationRow& row : operation_rows()) {
    if (!words.operation || row.operation == *words.operation) {
      algorithms.emplace_back(row.algorithm);
      if (!words.algorithm || row.algorithm == *words.algorithm) {
        rows.push_back(row);
      }
    }
  }
  if (rows.empty()) {
    choice_of("--algorithm", *words.algorithm, algorithms);
  }
  return rows;
}

void set_ranks(ProveRequest& request, const std::string& text) {
  const auto dash = text.find('-', 1);
  request.fewest_ranks = integer_of("--ranks", text.substr(0, dash), 1, 64);
  request.most_ranks = dash == std::string::npos
                           ? request.fewest_ranks
                           : integer_of("--ranks", text.substr(dash + 1), 1, 64);
  if (request.most_ranks < request.fewest_ranks) {
    throw BadUse("--ranks " + text + ": the second number is smaller than the first");
  }
}

std::vector<std::size_t> counts_of(const std::string& text) {
  std::vector<std::size_t> counts;
  std::size_t at = 0;
  while (at <= text.size()) {
    const auto comma = std::min(text.find(',', at), text.size());
    counts.push_back(
        static_cast<std::size_t>(integer_of("--count", text.substr(at, comma - at), 0, 100'000)));
    at = comma + 1;
  }
  return counts;
}

ProveRequest request_of(const ProveWords& words) {
  ProveRequest request{.rows = rows_of(words), .json = words.json};
  if (words.ranks) {
    set_ranks(request, *words.ranks);
  }
  if (words.count) {
    request.counts = counts_of(*words.count);
  }
  request.gpus_per_node = {0, 2, 3};
  if (words.gpus_per_node) {
    request.nodes_given = true;
    request.gpus_per_node = {integer_of("--gpus-per-node", *words.gpus_per_node, 1, 64)};
  }
  if (words.timeout) {
    request.timeout =
        std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(
            number_of("--timeout", *words.timeout, {.low = 0.001, .high = 86400})));
  }
  return request;
}

}  // namespace

Asked<ProveRequest> asked_prove(const std::vector<std::string>& words) {
  ProveWords given;
  Flags flags("prove", "ringside prove [OPERATION] [flags]", meaning_of("prove"),
              examples_of("prove"));
  declare(flags, given);
  if (!flags.parse(words)) {
    return {{}, flags.help()};
  }
  return {request_of(given), {}};
}

}  // namespace ringside
