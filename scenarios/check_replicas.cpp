// Bits: all ranks hold the same, and the cluster's shape changes none.
#include "scenarios/checks.hpp"
#include "scenarios/parallel_options.hpp"

namespace ringside {

namespace {

// The ranks that hold the same part of the model, and the same experts.
std::vector<int> holders_of_all(const Settings& s, std::size_t rank) {
  return expert_data_group(mesh_of(s, static_cast<int>(rank)), s.parallel.ep);
}

// The first step in which a rank holds other bits than the first of its place, and the first such
// rank. Under ZeRO each rank has another part of the gradients.
std::string replicas_seen(const Settings& settings, const TrainingOutcome& outcome) {
  const bool gradients = settings.parallel.zero == 0;
  for (std::size_t s = 0; s < outcome.ranks.front().size(); ++s) {
    for (std::size_t r = 1; r < outcome.ranks.size(); ++r) {
      const auto& first =
          outcome.ranks[static_cast<std::size_t>(holders_of_all(settings, r).front())];
      const auto& other = outcome.ranks[r][s];
      if (other.parameter_hash != first[s].parameter_hash ||
          (gradients && other.gradient_hash != first[s].gradient_hash)) {
        return "rank " + std::to_string(r) + " differs at step " + std::to_string(s + 1);
      }
    }
  }
  return "equal";
}

// What several tensor-parallel ranks of one replica hold: norms on all of them, a KV head on
// `copies`.
std::string copies_seen(const Settings& settings, const TrainingOutcome& outcome, int copies) {
  for (std::size_t s = 0; s < outcome.ranks.front().size(); ++s) {
    for (std::size_t r = 1; r < outcome.ranks.size(); ++r) {
      const auto& mine = outcome.ranks[r][s];
      const Mesh mesh = mesh_of(settings, static_cast<int>(r));
      const auto at = [&](int place) -> const StepOutcome& {
        return outcome.ranks[static_cast<std::size_t>(mesh.rank_with(Axis::tp, place))][s];
      };
      if (mine.copies_hash != at(0).copies_hash ||
          mine.kv_hash != at(mesh.at(Axis::tp) / copies * copies).kv_hash) {
        return "rank " + std::to_string(r) + " differs at step " + std::to_string(s + 1);
      }
    }
  }
  return "equal";
}

Check no_replicas() {
  return {.name = "replicas.bits",
          .measured = "no replicas",
          .gate = "equal on every rank",
          .verdict = CheckVerdict::not_applicable,
          .note = "everything is held once"};
}

Checks check_parts(const CheckContext& context) {
  const Settings& s = context.settings;
  const int tp = s.parallel.tp;
  const int kv = s.model.kv_heads;
  const std::string copies = copies_seen(s, context.main, tp > kv ? tp / kv : 1);
  Checks checks{holds(
      "replicas.copies", copies == "equal", copies, "equal on every holder",
      "gradients and values of norms" +
          std::string(tp > kv ? ", and of KV heads, each on " + std::to_string(tp / kv) + " ranks"
                              : ""))};
  const bool held_once = holders_of_all(s, 0).size() == 1;
  if (!held_once && s.parallel.zero < 3) {
    const std::string seen = replicas_seen(s, context.main);
    checks.push_back(holds("replicas.bits", seen == "equal", seen, "equal on every replica",
                           "the ranks of one place in the model"));
  } else if (gradient_ranks(s) > 1) {
    checks.push_back(no_replicas());
  }
  return checks;
}

}  // namespace

Checks check_replicas(const CheckContext& context) {
  const int zero = context.settings.parallel.zero;
  if (context.settings.parallel.tp > 1) {
    return check_parts(context);
  }
  const Settings& s = context.settings;
  if (zero == 3 || (s.parallel.pp * s.parallel.ep > 1 && holders_of_all(s, 0).size() == 1)) {
    return {no_replicas()};
  }
  const std::string seen = replicas_seen(context.settings, context.main);
  return {holds("replicas.bits", seen == "equal", seen, "equal on every rank",
                zero == 0 ? "" : "parameters: gradients are cut")};
}

Checks check_one_node(const CheckContext& context) {
  const std::string& all_reduce = gradient_algorithm(context.settings);
  const bool one_node = cluster_of(context.settings).nodes(context.settings.ranks) == 1;
  if (one_node || all_reduce == "hierarchical" || all_reduce == "auto") {
    return {{.name = "one_node.gradient_bits",
             .measured = one_node ? "one node" : "another order of additions",
             .gate = "equal to one node's",
             .verdict = CheckVerdict::not_applicable,
             .note = one_node ? "" : all_reduce + " adds node by node"}};
  }
  Settings one = context.settings;
  one.cluster.nodes = 1;
  one.cluster.gpus_per_node = one.ranks;
  const auto there = context.run(one, context.truth);
  std::string seen = "equal";
  for (std::size_t s = 0; s < there.ranks.front().size(); ++s) {
    if (there.ranks.front()[s].gradient_hash != context.main.ranks.front()[s].gradient_hash) {
      seen = "other bits at step " + std::to_string(s + 1);
      break;
    }
  }
  return {holds("one_node.gradient_bits", seen == "equal", seen, "equal to one node's")};
}

}  // namespace ringside
