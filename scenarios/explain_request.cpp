// The flags of `explain`.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

#include "runtime/errors.hpp"
#include "scenarios/flag_values.hpp"
#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/near_miss.hpp"
#include "scenarios/operation_convention.hpp"
#include "scenarios/requests.hpp"
#include "scenarios/setting_keys.hpp"

namespace ringside {
namespace {

using Given = std::optional<std::string>;

constexpr int most_ranks = 32;
constexpr int most_elements = 4096;
constexpr std::array reductions{ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max,
                                ReduceOp::avg};

struct ExplainWords {
  Given operation, algorithm, ranks, count, op, root, gpus_per_node, values, step, svg, timeout;
  bool json = false;
};

std::vector<std::string> operations() {
  const auto names = operation_names();
  return {names.begin(), names.end()};
}

void declare(Flags& flags, ExplainWords& words) {
  flags.word("OPERATION", words.operation, "one of " + joined(operations()));
  flags.value("--algorithm", "NAME", words.algorithm, "as in collectives/OPERATION.cpp");
  flags.value("--ranks", "N", words.ranks, "4");
  flags.value("--count", "N", words.count, "elements of the whole buffer; as many as ranks");
  flags.value("--op", "NAME", words.op, "sum, prod, min, max, avg; sum");
  flags.value("--root", "R", words.root, "root of broadcast and its like; 0");
  flags.value("--gpus-per-node", "N", words.gpus_per_node, "ranks of a node; all on one node");
  flags.value("--values", "integers|symbols", words.values,
              "what elements show: numbers from small inputs, or the sums; integers");
  flags.value("--step", "K", words.step, "only this step, counted from 0");
  flags.value("--svg", "FILE", words.svg, "draw it, too: a panel per step");
  flags.value("--timeout", "S", words.timeout, "longest wait of a rank in seconds; 10");
  flags.flag("--json", words.json, "one JSON document on stdout");
}

void check_operation(const ExplainWords& words) {
  const auto known = operations();
  if (!words.operation) {
    throw BadUse("explain needs an operation: one of " + joined(known));
  }
  if (std::find(known.begin(), known.end(), *words.operation) == known.end()) {
    throw BadUse("there is no operation " + *words.operation +
                 did_you_mean(*words.operation, known) + " (operations are " + joined(known) + ")");
  }
}

// What scenarios take when they say nothing, unless one is named.
std::string algorithm_of(const ExplainWords& words) {
  const auto names = algorithms_of(*words.operation);
  if (words.algorithm) {
    return choice_of("--algorithm", *words.algorithm, names);
  }
  const auto* key = find_key("collectives." + *words.operation);
  const auto usual = key == nullptr ? std::string() : key->fallback();  // quoted
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](const auto& name) { return '"' + name + '"' == usual; });
  return found == names.end() ? names.front() : *found;
}

std::size_t count_of(const ExplainWords& words, const ExplainedCall& call) {
  if (call.row.operation == "barrier") {
    if (words.count && *words.count != "0") {
      throw BadUse("--count " + *words.count + ": barrier moves no data: leave it out");
    }
    return 0;
  }
  const auto ranks = static_cast<std::size_t>(call.ranks);
  if (!words.count) {
    return ranks;
  }
  const auto count =
      static_cast<std::size_t>(integer_of("--count", *words.count, 0, most_elements));
  if (call.row.equal_parts && count % ranks != 0) {
    throw BadUse(
        fmt::format("--count {}: {} cuts it into equal parts, one for each of {} ranks: "
                    "take a multiple of {}",
                    count, call.row.operation, ranks, ranks));
  }
  return count;
}

ReduceOp op_of(const ExplainWords& words, const OperationRow& row) {
  if (!row.reduces) {
    if (words.op) {
      throw BadUse("--op " + *words.op + ": " + std::string(row.operation) +
                   " reduces nothing: leave it out");
    }
    return ReduceOp::none;
  }
  std::vector<std::string> names;
  for (const auto op : reductions) {
    names.emplace_back(name_of(op));
  }
  return parse_reduce_op(choice_of("--op", words.op.value_or("sum"), names));
}

int root_of(const ExplainWords& words, const ExplainedCall& call) {
  if (words.root && !call.row.rooted) {
    throw BadUse("--root " + *words.root + ": " + std::string(call.row.operation) +
                 " has no root: leave it out");
  }
  return words.root ? integer_of("--root", *words.root, 0, call.ranks - 1) : 0;
}

ExplainedCall call_of(const ExplainWords& words) {
  check_operation(words);
  ExplainedCall call{.row = operation_row(*words.operation, algorithm_of(words))};
  call.ranks = words.ranks ? integer_of("--ranks", *words.ranks, 1, most_ranks) : call.ranks;
  call.count = count_of(words, call);
  call.op = op_of(words, call.row);
  call.root = root_of(words, call);
  if (words.gpus_per_node) {
    call.gpus_per_node = integer_of("--gpus-per-node", *words.gpus_per_node, 1, most_ranks);
  }
  if (words.timeout) {
    const double seconds = number_of("--timeout", *words.timeout, {.low = 0.001, .high = 86400});
    call.timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9));
  }
  return call;
}

ExplainRequest request_of(const ExplainWords& words) {
  ExplainRequest request{.call = call_of(words), .json = words.json};
  if (choice_of("--values", words.values.value_or("integers"), {"integers", "symbols"}) ==
      "symbols") {
    request.values = ValueStyle::symbols;
  }
  if (words.step) {
    request.step = integer_of("--step", *words.step, 0, 1'000'000);
  }
  if (words.svg) {
    if (words.svg->empty()) {
      throw BadUse("--svg: must name a file");
    }
    request.svg = *words.svg;
  }
  return request;
}

}  // namespace

Asked<ExplainRequest> asked_explain(const std::vector<std::string>& words) {
  ExplainWords given;
  Flags flags("explain", "ringside explain OPERATION [flags]", meaning_of("explain"),
              examples_of("explain"));
  declare(flags, given);
  if (!flags.parse(words)) {
    return {{}, flags.help()};
  }
  return {request_of(given), {}};
}

}  // namespace ringside
