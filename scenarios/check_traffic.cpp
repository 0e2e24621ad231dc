// Traffic: the bytes that the run counted beside those of the formula, for every rank.
//
// The formulas know the shapes from the settings alone, and nothing of the run.
#include <algorithm>
#include <optional>

#include "collectives/all_reduce.hpp"
#include "collectives/broadcast.hpp"
#include "scenarios/checks.hpp"
#include "scenarios/scenario_file.hpp"

namespace ringside {

namespace {

struct Figures {
  std::int64_t sent = 0;
  std::optional<std::int64_t> received = 0;  // none: no formula is known

  Figures& operator+=(const Figures& other) {
    sent += other.sent;
    received =
        received && other.received ? std::optional(*received + *other.received) : std::nullopt;
    return *this;
  }

  Figures operator*(std::int64_t times) const {
    return {sent * times, received ? std::optional(*received * times) : std::nullopt};
  }
};

// An all-reduce of n elements, by rank. The published formulas for the two algorithms that have
// one; a row's own claim for others, whose received bytes then have no formula.
Figures all_reduce_elements(const Settings& s, std::size_t n, std::size_t bytes, int rank) {
  const int p = s.ranks;
  const Cluster cluster = cluster_of(s);
  const auto algorithm =
      chosen("all_reduce", s.collectives.all_reduce, cluster.nodes(p) > 1, bytes);
  const auto peers = static_cast<std::int64_t>(p - 1);
  const auto count = static_cast<std::int64_t>(n);
  if (algorithm == "ring" && n % static_cast<std::size_t>(p) == 0) {
    return {2 * peers * (count / p), 2 * peers * (count / p)};
  }
  if (algorithm == "naive") {
    return rank == 0 ? Figures{peers * count, peers * count} : Figures{count, count};
  }
  const auto& row = pick(all_reduce_algorithms(), "all_reduce", algorithm);
  Shape shape{.p = p, .n = n};
  for (int r = 0; r < p; ++r) {
    shape.node_of.push_back(cluster.node_of(r));
  }
  const auto sent = [&](int r) {
    shape.rank = r;
    return static_cast<std::int64_t>(row.sent(shape));
  };
  return {sent(rank), algorithm == "ring" ? std::optional(sent((rank + p - 1) % p)) : std::nullopt};
}

std::string all_reduce_formula(const std::string& algorithm) {
  return algorithm == "ring"    ? "2(p-1)/p n"
         : algorithm == "naive" ? "rank 0: (p-1) n, others n"
                                : "claim of " + algorithm;
}

// What the run counted under operation and label.
template <class Wanted>
Figures counted(const RankReport& report, std::string_view operation, Wanted wanted) {
  Figures figures;
  for (const auto& sum : report.sums) {
    if (std::string_view(sum.operation) == operation && wanted(std::string_view(sum.label))) {
      figures += {sum.sent_bytes, sum.received_bytes};
    }
  }
  return figures;
}

bool is_gradient(std::string_view label) {
  return label.starts_with("grad.bucket.");
}

Figures gradient_formula(const Settings& s, int rank) {
  const std::size_t element = size_of(parse_dtype(s.model.dtype));
  Figures figures;
  for (const auto& b : buckets_of(s)) {
    figures += all_reduce_elements(s, b.padded, b.padded * element, rank);
  }
  const int reductions = s.dp.sync_every_microbatch ? s.parallel.microbatches : 1;
  return figures * (reductions * s.train.steps * static_cast<std::int64_t>(element));
}

Figures weight_formula(const Settings& s, int rank) {
  const auto element = size_of(parse_dtype(s.model.dtype));
  std::int64_t bytes = 0;
  for (const Bucket& bucket : buckets_of(s)) {
    bytes += static_cast<std::int64_t>(bucket.count * element);
  }
  const auto algorithm =
      chosen("broadcast", s.collectives.broadcast, cluster_of(s).nodes(s.ranks) > 1, 0);
  const auto& row = pick(broadcast_algorithms(), "broadcast", algorithm);
  const auto copies = static_cast<std::int64_t>(row.sent({.p = s.ranks, .n = 1, .rank = rank}));
  return {bytes * copies, rank == 0 ? 0 : bytes};
}

TrafficComparison compare(int rank, std::string operation, std::string label, std::string formula,
                          Figures seen, Figures expected) {
  return {rank,      std::move(operation), std::move(label),          std::move(formula),
          seen.sent, expected.sent,        seen.received.value_or(0), expected.received};
}

}  // namespace

std::vector<TrafficComparison> compare_traffic(const Settings& s, const JobResult& job) {
  std::vector<TrafficComparison> rows;
  for (int r = 0; r < s.ranks; ++r) {
    const RankReport& report = job.ranks[static_cast<std::size_t>(r)].report;
    rows.push_back(compare(r, "all_reduce", "gradients",
                           all_reduce_formula(s.collectives.all_reduce),
                           counted(report, "all_reduce", is_gradient), gradient_formula(s, r)));
    rows.push_back(compare(
        r, "broadcast", "weights",
        s.collectives.broadcast == "linear" ? "root: (p-1) n, others 0"
                                            : "claim of " + s.collectives.broadcast,
        counted(report, "broadcast", [](std::string_view) { return true; }), weight_formula(s, r)));
    constexpr std::int64_t two_numbers_of_8_bytes = 16;  // loss and token count
    const Figures numbers =
        all_reduce_elements(s, 1, 8, r) * (two_numbers_of_8_bytes * s.train.steps);
    rows.push_back(compare(r, "all_reduce", "loss, tokens", "16 bytes a step, all-reduced",
                           counted(report, "all_reduce",
                                   [](std::string_view l) { return l == "loss" || l == "tokens"; }),
                           numbers));
  }
  return rows;
}

namespace {

std::int64_t busiest_receiver(const Settings& s, const JobResult& job) {
  std::int64_t most = 0;
  for (const auto& row : compare_traffic(s, job)) {
    most = std::max(most, row.label == "gradients" ? row.received : 0);
  }
  return most;
}

// What the figures were held to, every rank's.
std::string compared(const std::vector<TrafficComparison>& rows) {
  const auto claimed =
      std::find_if(rows.begin(), rows.end(), [](const auto& row) { return !row.received_formula; });
  return claimed == rows.end()
             ? "sent and received, every rank, to the byte"
             : "every rank, to the byte; of " + claimed->operation +
                   " what is sent, by the algorithm's own claim: no formula says what is received";
}

}  // namespace

// The same training with the peer scenario's all-reduce: whose busiest rank receives less?
Checks check_busiest(const CheckContext& context) {
  Settings other = context.settings;
  other.collectives.all_reduce =
      load_scenario(find_scenario(context.settings.checks.peer)).collectives.all_reduce;
  if (other.collectives.all_reduce == context.settings.collectives.all_reduce) {
    return {
        {.name = "busiest.rank_receives",
         .measured = "same all-reduce",
         .gate = "another than the peer's",
         .verdict = CheckVerdict::not_applicable,
         .note = context.settings.checks.peer + " takes " + other.collectives.all_reduce + " too"}};
  }
  const auto there = context.run(other, context.truth);
  const std::int64_t mine = busiest_receiver(context.settings, context.main.job);
  const std::int64_t theirs = busiest_receiver(other, there.job);
  const bool plain = context.settings.collectives.all_reduce == "naive";
  return {holds("busiest.rank_receives", plain ? mine >= theirs : mine <= theirs,
                std::to_string(mine), (plain ? ">= " : "<= ") + std::to_string(theirs) + " bytes",
                "bytes of gradients; the other figure is with " + other.collectives.all_reduce)};
}

Checks check_traffic(const CheckContext& context) {
  const Settings& s = context.settings;
  const auto rows = compare_traffic(s, context.main.job);
  std::int64_t differing = 0;
  std::int64_t gradients = 0;
  for (const auto& row : rows) {
    differing += row.sent != row.sent_formula;
    differing += row.received != row.received_formula.value_or(row.received);
    gradients += row.label == "gradients" ? row.sent : 0;
  }
  Checks checks{equal("traffic.figures_that_differ", differing, 0, "figures", compared(rows))};
  std::int64_t whole = 0;
  for (int r = 0; r < s.ranks; ++r) {
    whole += gradient_formula(s, r).sent;
  }
  checks.push_back(
      equal("traffic.gradients_sent", gradients, whole, "bytes", "all ranks together"));
  if (s.collectives.all_reduce == "naive") {
    checks.push_back(equal("traffic.received_by_rank_0", rows.front().received,
                           gradient_formula(s, 0).received.value(), "bytes", "(p-1) n a step"));
  }
  return checks;
}

}  // namespace ringside
