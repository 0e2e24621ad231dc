// The flags of `collective`.

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>

#include "runtime/errors.hpp"
#include "scenarios/flag_values.hpp"
#include "scenarios/flags.hpp"
#include "scenarios/help_text.hpp"
#include "scenarios/nccl_flags.hpp"
#include "scenarios/near_miss.hpp"
#include "scenarios/overrides.hpp"
#include "scenarios/requests.hpp"
#include "scenarios/size_sweep.hpp"

namespace ringside {
namespace {

using Given = std::optional<std::string>;

constexpr int most_calls = 1'000'000;
constexpr std::array reductions{ReduceOp::sum, ReduceOp::prod, ReduceOp::min, ReduceOp::max,
                                ReduceOp::avg};

// nccl-tests' names of types, beside ours.
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> nccl_types{
    {{"float", "f32"},
     {"double", "f64"},
     {"int32", "i32"},
     {"int64", "i64"},
     {"uint8", "u8"},
     {"half", "f16"},
     {"bfloat16", "bf16"}}};

// All that can be said after `collective`, as text.
struct CollectiveWords {
  Given operation, first, last, step, factor, iterations, warmup, check, dtype, op, root;
  Given algorithm, ranks, nodes, eager_limit, pace, timeout;
  NcclWords nccl;
  std::vector<std::string> set;
  bool json = false;
};

void declare(Flags& flags, CollectiveWords& words) {
  flags.word("OPERATION", words.operation, "one of " + joined(measured_operations()));
  flags.value("-b,--minbytes", "SIZE", words.first, "smallest S; K, M, G are binary; 32M");
  flags.value("-e,--maxbytes", "SIZE", words.last, "largest S; 32M");
  flags.value("-i,--stepbytes", "SIZE", words.step, "added to S each time; 1M");
  flags.value("-f,--stepfactor", "N", words.factor, "S is multiplied by it instead");
  flags.value("-n,--iters", "N", words.iterations, "timed calls of each size; 20");
  flags.value("-w,--warmup_iters", "N", words.warmup, "calls before them; 1");
  flags.value("-c,--check", "N", words.check, "check every element of one call, unless 0; 1");
  flags.value("-d,--datatype", "NAME", words.dtype, "element type; f32 (float)");
  flags.value("-o,--op", "NAME|all", words.op, "sum, prod, min, max, avg; sum");
  flags.value("-r,--root", "R", words.root, "root of broadcast and its like; 0");
  flags.value("--algorithm", "NAME|auto|all", words.algorithm,
              "of collectives/OPERATION.cpp; auto: by size and nodes");
  flags.value("--ranks", "N", words.ranks, "8; on one node, unless nodes are set");
  flags.value("--nodes", "N", words.nodes, "spread the ranks over N nodes");
  flags.values("--set", "KEY=VALUE", words.set,
               "change a key of cluster or links (docs/formats.md); may be repeated");
  flags.value("--eager-limit", "BYTES", words.eager_limit,
              "up to this a payload is copied and no send waits; 1024");
  flags.value("--pace", "S", words.pace, "wall seconds per modelled second; 0: full speed");
  flags.value("-T,--timeout", "S", words.timeout, "longest wait of a rank in seconds; 30");
  flags.flag("--json", words.json, "one JSON document on stdout");
  declare(flags, words.nccl);
}

// --nodes N: the ranks, 8 where nobody says, over N nodes of the same size.
void spread(Overrides& overrides, const std::string& text) {
  const auto flag = "--nodes " + text;
  const int nodes = integer_of("--nodes", text, 1, 65536);
  overrides.ranks = overrides.ranks.value_or("8");
  const int ranks = integer_of("--ranks", *overrides.ranks, 1, 65536);
  overrides.set.push_back({flag, "cluster.nodes", std::to_string(nodes)});
  overrides.set.push_back(
      {flag, "cluster.gpus_per_node", std::to_string((ranks + nodes - 1) / nodes)});
}

Settings cluster_settings(const CollectiveWords& words) {
  Overrides overrides{.set = {}, .ranks = words.ranks};
  for (const auto& text : words.set) {
    const auto change = parse_set(text);
    if (!change.key.starts_with("cluster.") && !change.key.starts_with("links.")) {
      throw BadUse(change.flag + ": collective takes keys of cluster and links, such as --set " +
                   "links.nvlink.bandwidth=\"50 GB/s\"");
    }
    overrides.set.push_back(change);
  }
  if (words.nodes) {
    spread(overrides, *words.nodes);
  }
  Settings settings;
  apply_overrides(settings, overrides);
  return settings;
}

DType dtype_of_flag(const std::string& text) {
  std::string name = text;
  for (const auto& [nccl, ours] : nccl_types) {
    name = text == nccl ? std::string(ours) : name;
  }
  try {
    if (const auto dtype = parse_dtype(name); dtype != DType::symbol) {
      return dtype;
    }
    throw BadUse("a symbol is an expression, which has no speed: choose a type of numbers");
  } catch (const BadUse& refusal) {
    throw BadUse("-d " + text + ": " + refusal.what());
  }
}

bool reduces(const std::string& operation) {
  const auto rows = operation_rows();
  return std::any_of(rows.begin(), rows.end(),
                     [&](const auto& row) { return row.operation == operation && row.reduces; });
}

std::vector<ReduceOp> ops_of(const CollectiveWords& words) {
  if (!reduces(*words.operation)) {
    if (words.op) {
      throw BadUse("-o " + *words.op + ": " + *words.operation + " reduces nothing: leave it out");
    }
    return {ReduceOp::none};
  }
  std::vector<std::string> names;
  for (const auto op : reductions) {
    names.emplace_back(name_of(op));
  }
  names.emplace_back("all");
  const auto name = choice_of("-o", words.op.value_or("sum"), names);
  return name == "all" ? std::vector<ReduceOp>{reductions.begin(), reductions.end()}
                       : std::vector<ReduceOp>{parse_reduce_op(name)};
}

std::vector<std::string> wanted_algorithms(const CollectiveWords& words) {
  const auto names = algorithms_of(*words.operation);
  if (words.algorithm == "all") {
    return names;
  }
  auto choices = names;
  choices.insert(choices.begin(), {"auto", "all"});
  return {choice_of("--algorithm", words.algorithm.value_or("auto"), choices)};
}

std::vector<std::size_t> wanted_sizes(const CollectiveWords& words,
                                      const CollectiveRequest& request) {
  if (request.operation == "barrier") {
    if (words.first || words.last || words.step || words.factor) {
      throw BadUse("barrier moves no data: leave out -b, -e, -i and -f");
    }
    return {0};
  }
  SizeSweep sweep;
  sweep.first = words.first ? size_of_flag("-b", *words.first) : sweep.first;
  sweep.last = words.last ? size_of_flag("-e", *words.last) : std::max(sweep.first, sweep.last);
  sweep.first = words.first ? sweep.first : std::min(sweep.first, sweep.last);
  if (words.step) {
    sweep.step = size_of_flag("-i", *words.step);
    if (sweep.step == 0) {
      throw BadUse("-i " + *words.step + ": must be at least 1 byte");
    }
  }
  if (words.factor) {
    sweep.factor = static_cast<std::size_t>(integer_of("-f", *words.factor, 2, 1 << 20));
  }
  const auto unit =
      size_unit(convention_of(request.operation), request.settings.ranks, request.dtype);
  return sizes_of(sweep, unit);
}

void set_run(CollectiveRequest& request, const CollectiveWords& words) {
  request.iterations = integer_of("-n", words.iterations.value_or("20"), 1, most_calls);
  request.warmup = integer_of("-w", words.warmup.value_or("1"), 0, most_calls);
  request.check = integer_of("-c", words.check.value_or("1"), 0, most_calls) > 0;
  if (words.eager_limit) {
    request.eager_limit = bytes_of("--eager-limit", *words.eager_limit);
  }
  if (words.pace) {
    request.pace = number_of("--pace", *words.pace, {.low = 0, .high = 1e12});
  }
  if (words.timeout) {
    request.timeout = timeout_of(*words.timeout);
  }
  request.json = words.json;
}

CollectiveRequest request_of(const CollectiveWords& words) {
  const auto& convention = convention_of(*words.operation);
  CollectiveRequest request{.settings = cluster_settings(words), .operation = *words.operation};
  request.dtype = dtype_of_flag(words.dtype.value_or("f32"));
  request.ops = ops_of(words);
  request.algorithms = wanted_algorithms(words);
  if (words.root) {
    if (!convention.rooted) {
      throw BadUse("-r " + *words.root + ": " + request.operation + " has no root: leave it out");
    }
    request.root = integer_of("-r", *words.root, 0, request.settings.ranks - 1);
  }
  request.sizes = wanted_sizes(words, request);
  set_run(request, words);
  return request;
}

}  // namespace

Asked<CollectiveRequest> asked_collective(const std::vector<std::string>& after_verb) {
  CollectiveWords words;
  Flags flags("collective", "ringside collective OPERATION [flags]", meaning_of("collective"),
              examples_of("collective"));
  declare(flags, words);
  if (!flags.parse(after_verb)) {
    return {std::nullopt, flags.help()};
  }
  if (!words.operation) {
    throw BadUse("collective: which operation? One of " + joined(measured_operations()));
  }
  words.operation = operation_named(*words.operation);
  check(words.nccl);
  words.ranks = ranks_of(words.nccl, words.ranks);
  return {request_of(words), {}};
}

}  // namespace ringside
