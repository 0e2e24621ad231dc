#include "scenarios/prove_verb.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "runtime/errors.hpp"
#include "scenarios/diagnosis_json.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/printed_json.hpp"
#include "scenarios/terminal.hpp"
#include "scenarios/wrap.hpp"

namespace ringside {

namespace {

struct Failed {
  int ranks;
  int gpus_per_node;
  Proof proof;
};

struct RowResult {
  OperationRow row;
  int proofs = 0;
  std::vector<Failed> failed{};
};

bool fits(const OperationRow& row, std::size_t count, int ranks) {
  return row.operation == "barrier"
             ? count == 0
             : !row.equal_parts || count % static_cast<std::size_t>(ranks) == 0;
}

std::vector<std::size_t> counts_of(const ProveRequest& request, const OperationRow& row,
                                   int ranks) {
  if (request.counts.empty()) {
    return counts_to_prove(row, ranks);
  }
  std::vector<std::size_t> counts;
  for (const std::size_t count : request.counts) {
    if (fits(row, count, ranks)) {
      counts.push_back(count);
    }
  }
  return counts;
}

// Nodes change what only hierarchical algorithms do; those that are asked for count for all.
bool worth(const ProveRequest& request, const OperationRow& row, int gpus_per_node, int ranks) {
  return gpus_per_node == 0 ||
         (gpus_per_node < ranks && (request.nodes_given || row.algorithm == "hierarchical"));
}

RowResult prove_row(const ProveRequest& request, const OperationRow& row, Progress& progress) {
  RowResult result{.row = row};
  for (int p = request.fewest_ranks; p <= request.most_ranks; ++p) {
    for (const int nodes_of : request.gpus_per_node) {
      const auto counts = counts_of(request, row, p);
      if (!worth(request, row, nodes_of, p) || counts.empty()) {
        continue;
      }
      progress.show(fmt::format("{} {}, {} ranks", row.operation, row.algorithm, p));
      for (Proof& proof : prove({.row = row,
                          .ranks = p,
                          .gpus_per_node = nodes_of,
                          .counts = counts,
                          .limit = request.timeout})) {
        ++result.proofs;
        if (!proof.holds()) {
          result.failed.push_back({p, nodes_of, std::move(proof)});
        }
      }
    }
  }
  return result;
}

// How the first algorithm that died did: deadlock, mismatch; none: all ran to their end.
std::optional<Failure> died(const std::vector<RowResult>& results) {
  for (const RowResult& result : results) {
    for (const Failed& failed : result.failed) {
      if (failed.proof.died) {
        return failure_of(failed.proof.died);
      }
    }
  }
  return std::nullopt;
}

std::string where(const Failed& failed) {
  return fmt::format(
      "{} rank{}{}, {} element{}{}", failed.ranks, failed.ranks == 1 ? "" : "s",
      failed.gpus_per_node == 0 ? "" : fmt::format(" on nodes of {}", failed.gpus_per_node),
      failed.proof.call.count, failed.proof.call.count == 1 ? "" : "s",
      failed.proof.call.root == 0 ? "" : fmt::format(", root {}", failed.proof.call.root));
}

// Below the row, line by line.
std::string indented(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t own = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t indent = 6 + own;
    result += std::string(indent, ' ') + wrapped(line.substr(own), indent, 100) + "\n";
  }
  return result;
}

std::string text_of(const RowResult& result) {
  std::string text = fmt::format(
      "  {:15} {:20} {:>6} {}\n", result.row.operation, result.row.algorithm, result.proofs,
      result.failed.empty() ? "proved" : fmt::format("FAIL in {}", result.failed.size()));
  if (!result.failed.empty()) {
    const Failed& first = result.failed.front();
    for (const Claim& claim : first.proof.claims) {
      if (!claim.holds) {
        text += indented(fmt::format("{}: {}: {}", where(first), claim.name, claim.fault));
      }
    }
  }
  return text;
}

nlohmann::ordered_json json_of(const Failed& failed) {
  nlohmann::ordered_json row{{"ranks", failed.ranks},
                             {"gpus_per_node", failed.gpus_per_node},
                             {"count", failed.proof.call.count},
                             {"root", failed.proof.call.root}};
  for (const Claim& claim : failed.proof.claims) {
    row["claims"][std::string(claim.name)] = claim.holds ? "holds" : claim.fault;
  }
  if (failed.proof.diagnosis) {
    row["diagnosis"] = json_of(*failed.proof.diagnosis);
  }
  return row;
}

nlohmann::ordered_json document_of(const std::vector<RowResult>& results, bool all_hold) {
  const auto death = died(results);
  nlohmann::ordered_json document{{"verb", "prove"},
                                  {"verdict", death      ? death->verdict
                                              : all_hold ? "pass"
                                                         : "fail"}};
  auto& rows = document["rows"] = nlohmann::ordered_json::array();
  for (const RowResult& result : results) {
    auto failed = nlohmann::ordered_json::array();
    for (const Failed& f : result.failed) {
      failed.push_back(json_of(f));
    }
    rows.push_back({{"operation", result.row.operation},
                    {"algorithm", result.row.algorithm},
                    {"proofs", result.proofs},
                    {"verdict", result.failed.empty() ? "pass" : "fail"},
                    {"failed", failed}});
  }
  return document;
}

}  // namespace

int prove_verb(const ProveRequest& request) {
  Progress progress(std::cerr, stderr_rewrites_lines());
  std::vector<RowResult> results;
  int proofs = 0;
  bool all_hold = true;
  if (!request.json) {
    std::cout << fmt::format(
        "  {:15} {:20} {:>6} {} ranks\n", "operation", "algorithm", "proofs",
        request.fewest_ranks == request.most_ranks
            ? fmt::format("{}", request.most_ranks)
            : fmt::format("{} to {}", request.fewest_ranks, request.most_ranks));
  }
  for (const OperationRow& row : request.rows) {
    results.push_back(prove_row(request, row, progress));
    proofs += results.back().proofs;
    all_hold = all_hold && results.back().failed.empty();
    if (!request.json) {
      progress.wipe();
      std::cout << text_of(results.back()) << std::flush;
    }
  }
  progress.wipe();
  if (proofs == 0) {
    throw BadUse(
        "there is nothing to prove: no count of --count fits (equal parts want a multiple of the "
        "ranks, a barrier 0), or --gpus-per-node is not below any number of --ranks");
  }
  if (request.json) {
    std::cout << printed_json(document_of(results, all_hold));
  } else {
    std::cout << fmt::format(
        "\n  {} proof{}, each for every input: what each element must hold, equal on all ranks, "
        "and "
        "the bits of a run\n  verdict: {}\n",
        proofs, proofs == 1 ? "" : "s", all_hold ? "pass" : "FAIL");
  }
  const auto death = died(results);
  return death ? death->exit_code : all_hold ? exit_ok : exit_check_failed;
}

}  // namespace ringside
