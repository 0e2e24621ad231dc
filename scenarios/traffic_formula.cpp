#include "scenarios/traffic_formula.hpp"

#include <algorithm>

#include "collectives/all_reduce.hpp"
#include "collectives/broadcast.hpp"
#include "collectives/chunk.hpp"
#include "parallel/mesh.hpp"
#include "parallel/shard_map.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

// The group of an axis that a rank belongs to.
struct Group {
  Group(const Settings& s, Axis axis, int rank) {
    const Mesh mesh({.tp = s.parallel.tp, .dp = data_parallel_ranks(s)}, rank);
    const Cluster cluster = cluster_of(s);
    for (const int r : mesh.members({axis})) {
      node_of.push_back(cluster.node_of(r));
      several_nodes = several_nodes || node_of.back() != node_of.front();
    }
    size = static_cast<int>(node_of.size());
    me = mesh.at(axis);
  }

  int size = 1;
  int me = 0;
  std::vector<int> node_of{};
  bool several_nodes = false;
};

// An all-reduce of n elements, by rank. The published formulas for the two algorithms that have
// one; a row's own claim for others, whose received bytes then have no formula.
Figures all_reduce_elements(const Settings& s, const Group& group, std::size_t n,
                            std::size_t bytes) {
  const int p = group.size;
  const auto algorithm = chosen("all_reduce", s.collectives.all_reduce, group.several_nodes, bytes);
  const auto peers = static_cast<std::int64_t>(p - 1);
  const auto count = static_cast<std::int64_t>(n);
  if (algorithm == "ring" && n % static_cast<std::size_t>(p) == 0) {
    return {2 * peers * (count / p), 2 * peers * (count / p)};
  }
  if (algorithm == "naive") {
    return group.me == 0 ? Figures{peers * count, peers * count} : Figures{count, count};
  }
  const auto& row = pick(all_reduce_algorithms(), "all_reduce", algorithm);
  Shape shape{.p = p, .n = n, .node_of = group.node_of};
  const auto sent = [&](int r) {
    shape.rank = r;
    return static_cast<std::int64_t>(row.sent(shape));
  };
  return {sent(group.me),
          algorithm == "ring" ? std::optional(sent((group.me + p - 1) % p)) : std::nullopt};
}

std::string all_reduce_formula(const std::string& algorithm) {
  return algorithm == "ring"    ? "2(p-1)/p n"
         : algorithm == "naive" ? "rank 0: (p-1) n, others n"
                                : "claim of " + algorithm;
}

std::int64_t element_of(const Settings& s) {
  return static_cast<std::int64_t>(size_of(element_type(s)));
}

// A reduce-scatter or an all-gather of a bucket: every chunk but one is sent, and one received.
std::int64_t half_of_ring(const Settings& s, const Bucket& bucket) {
  return static_cast<std::int64_t>(data_parallel_ranks(s) - 1) *
         static_cast<std::int64_t>(shard_size(bucket, data_parallel_ranks(s)));
}

// Layers that compute with the bucket: two with a tied table.
std::int64_t users_of(const Settings& s, const Bucket& bucket) {
  return !at_true_scale(s) && s.model.kind == "gpt" && s.model.tied && bucket.layer == 0 ? 2 : 1;
}

}  // namespace

Figures gradient_formula(const Settings& s, int rank) {
  Figures figures;
  for (const auto& b : buckets_of(s)) {
    const std::int64_t half = half_of_ring(s, b);
    figures += s.parallel.zero > 0
                   ? Figures{half, half}
                   : all_reduce_elements(s, {s, Axis::dp, rank}, b.padded,
                                         b.padded * static_cast<std::size_t>(element_of(s)));
  }
  return figures * (std::int64_t{reductions_of(s)} * s.train.steps * element_of(s));
}

Figures parameter_formula(const Settings& s, int /*rank*/) {
  std::int64_t elements = 0;
  for (const auto& b : buckets_of(s)) {
    const std::int64_t gathers =
        s.parallel.zero < 3 ? 1 : 2 * users_of(s, b) * s.parallel.microbatches;
    elements += gathers * half_of_ring(s, b);
  }
  const std::int64_t bytes = elements * s.train.steps * element_of(s);
  return {bytes, bytes};
}

Figures weight_formula(const Settings& s, int rank) {
  const auto element = size_of(element_type(s));
  std::int64_t bytes = 0;
  for (const Bucket& bucket : buckets_of(s)) {
    bytes += static_cast<std::int64_t>(bucket.count * element);
  }
  const Group group(s, Axis::dp, rank);
  const auto algorithm = chosen("broadcast", s.collectives.broadcast, group.several_nodes, 0);
  const auto& row = pick(broadcast_algorithms(), "broadcast", algorithm);
  const auto copies =
      static_cast<std::int64_t>(row.sent({.p = group.size, .n = 1, .rank = group.me}));
  return {bytes * copies, group.me == 0 ? 0 : bytes};
}

Figures number_formula(const Settings& s, int rank) {
  const std::int64_t numbers = s.parallel.zero > 0 ? 3 : 2;
  return all_reduce_elements(s, {s, Axis::dp, rank}, 1, 8) * (8 * numbers * s.train.steps);
}

namespace {

// Rows that one micro-batch of the rank has, and with sequence parallelism the padding.
std::vector<std::size_t> rows_of_microbatches(const Settings& s, const TrainingPlan& plan,
                                              int dp_rank) {
  std::vector<std::size_t> rows;
  const auto ranks = static_cast<std::size_t>(s.parallel.tp);
  for (int step = 0; step < plan.steps; ++step) {
    for (int m = 0; m < s.parallel.microbatches; ++m) {
      const Chunk mine = chunk_of(plan.batch, data_parallel_ranks(s), dp_rank);
      const Chunk part = chunk_of(mine.count, s.parallel.microbatches, m);
      const auto tokens = make_batch(plan.data, static_cast<std::uint64_t>(step),
                                     mine.first + part.first, part.count)
                              .targets.size();
      rows.push_back(s.parallel.sp ? (tokens + ranks - 1) / ranks * ranks : tokens);
    }
  }
  return rows;
}

// An all-reduce of [rows, hidden], or the reduce-scatter and all-gather in its place.
Figures seam_formula(const Settings& s, const Group& group, std::size_t rows) {
  const std::size_t n = rows * static_cast<std::size_t>(s.model.hidden);
  if (!s.parallel.sp) {
    return all_reduce_elements(s, group, n, n * static_cast<std::size_t>(element_of(s)));
  }
  const std::int64_t passes = 2 * (group.size - 1) * static_cast<std::int64_t>(n) / group.size;
  return {passes, passes};
}

}  // namespace

Figures seams_formula(const Settings& s, std::string_view text, int rank, int seams) {
  const Group group(s, Axis::tp, rank);
  const int dp_rank = Mesh({.tp = s.parallel.tp, .dp = data_parallel_ranks(s)}, rank).at(Axis::dp);
  Figures figures;
  for (const std::size_t rows : rows_of_microbatches(s, plan_of(s, text), dp_rank)) {
    figures += seam_formula(s, group, rows) * seams;
  }
  return figures * element_of(s);
}

Figures softmax_formula(const Settings& s, std::string_view text, int rank) {
  const Group group(s, Axis::tp, rank);
  Settings plain = s;  // every token, without padding
  plain.parallel.sp = false;
  const int dp_rank = Mesh({.tp = s.parallel.tp, .dp = data_parallel_ranks(s)}, rank).at(Axis::dp);
  Figures figures;
  for (const std::size_t tokens : rows_of_microbatches(plain, plan_of(s, text), dp_rank)) {
    figures += all_reduce_elements(s, group, tokens, 8 * tokens);
    figures += all_reduce_elements(s, group, 2 * tokens, 16 * tokens);
  }
  return figures * 8;
}

Figures copies_formula(const Settings& s, int rank) {
  const Group group(s, Axis::tp, rank);
  const auto hidden = static_cast<std::size_t>(s.model.hidden);
  const auto element = static_cast<std::size_t>(element_of(s));
  Figures figures;
  if (s.parallel.sp) {
    figures += all_reduce_elements(s, group, hidden, hidden * element) *
               (2 * std::int64_t{s.model.layers} + 1);
  }
  if (s.parallel.tp > s.model.kv_heads) {
    const GptShare share = share_of(std::get<GptConfig>(model_of(s)), {group.me, group.size});
    Group holders = group;
    holders.size = share.kv_copies;
    holders.me = group.me % share.kv_copies;
    const auto first = group.node_of.begin() + group.me - holders.me;
    holders.node_of = {first, first + holders.size};
    holders.several_nodes =
        std::ranges::count(holders.node_of, holders.node_of.front()) < holders.size;
    const std::size_t n =
        hidden * hidden / static_cast<std::size_t>(s.model.heads) * share.kv_heads.count;
    figures += all_reduce_elements(s, holders, n, n * element) * (2 * std::int64_t{s.model.layers});
  }
  const Figures norm = all_reduce_elements(s, group, 1, 8) * (8 * s.train.steps);
  figures = figures * (std::int64_t{reductions_of(s)} * s.train.steps * element_of(s));
  return figures += norm;
}

std::string gradient_operation(const Settings& s) {
  return s.parallel.zero > 0 ? "reduce_scatter" : "all_reduce";
}

std::string gradient_formula_text(const Settings& s) {
  return s.parallel.zero > 0 ? "(p-1)/p n" : all_reduce_formula(s.collectives.all_reduce);
}

std::string parameter_formula_text(const Settings& s) {
  return s.parallel.zero < 3 ? "(p-1)/p n" : "2(p-1)/p n a layer that uses it";
}

std::string weight_formula_text(const Settings& s) {
  return s.collectives.broadcast == "linear" ? "root: (p-1) n, others 0"
                                             : "claim of " + s.collectives.broadcast;
}

std::string number_formula_text(const Settings& s) {
  return s.parallel.zero > 0 ? "24 bytes a step, all-reduced" : "16 bytes a step, all-reduced";
}

std::string number_labels(const Settings& s) {
  return s.parallel.zero > 0 ? "loss, tokens, norm" : "loss, tokens";
}

}  // namespace ringside
