#include "scenarios/context_formula.hpp"

#include <algorithm>

#include "models/gpt_cut.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/pipeline_settings.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

std::int64_t signed_of(std::size_t count) {
  return static_cast<std::int64_t>(count);
}

// Blocks that a sample is cut into.
std::size_t blocks_of(const std::string& layout, int ranks) {
  return (layout == "zigzag" ? 2 : 1) * static_cast<std::size_t>(ranks);
}

bool rings(const Settings& s) {
  return s.parallel.cp_form == "ring";
}

// Forward passes of a block: full recompute runs it again.
std::int64_t forward_passes(const Settings& s) {
  return s.parallel.recompute == "full" ? 2 : 1;
}

// Elements that a rank sends for a row of a layer, forward and backward.
std::int64_t elements_of_row(const Settings& s) {
  const auto config = std::get<GptConfig>(model_of(s));
  const GptShare share = share_of(config, {.rank = 0, .ranks = s.parallel.tp});
  const std::int64_t c = s.parallel.cp;
  const auto queries = signed_of(share.heads.count);
  const auto kv = signed_of(share.kv_heads.count);
  const auto dim = signed_of(config.head_width());
  if (rings(s)) {
    return 2 * kv * dim * (forward_passes(s) * (c - 1) + (c - 1) + c);
  }
  const std::int64_t pass = (c - 1) * (2 * queries / c + 2 * std::max(kv / c, std::int64_t{1}));
  return pass * dim * (forward_passes(s) + 1);
}

std::int64_t pairs_of_block(std::size_t length, std::size_t width, std::size_t block) {
  const std::size_t first = std::min(length, width * block);
  const std::size_t tokens = std::min(length, first + width) - first;
  return signed_of(tokens * first + tokens * (tokens + 1) / 2);
}

}  // namespace

std::size_t rows_of_sample(const Settings& s, std::size_t length) {
  const std::size_t blocks = blocks_of(s.parallel.cp_layout, s.parallel.cp);
  const std::size_t of_rank = blocks / static_cast<std::size_t>(s.parallel.cp);
  return (length + blocks - 1) / blocks * of_rank;
}

// For each sample that a rank has a part of, its length and the blocks that run it on this rank.
void for_samples(const Settings& s, std::string_view text, int rank,
                 const std::function<void(std::size_t length, int blocks)>& see) {
  for_each_microbatch(plan_of(s, text), batch_share_of(s, rank), [&](int m, const Batch& batch) {
    const int blocks = layers_here(s, rank, m).blocks;
    for (const std::size_t length : batch.lengths) {
      see(length, blocks);
    }
  });
}

Figures context_formula(const Settings& s, std::string_view text, int rank) {
  std::int64_t rows = 0;  // times blocks
  for_samples(s, text, rank, [&](std::size_t length, int blocks) {
    rows += signed_of(rows_of_sample(s, length)) * blocks;
  });
  const std::int64_t bytes = rows * elements_of_row(s) * element_of(s);
  return {bytes, bytes};
}

std::string context_formula_text(const Settings& s) {
  return rings(s) ? "(c-1) B, then (c-1) B + c B a layer; B: rows 2 kv dim bytes"
                  : "2 (c-1)/c rows (2 heads + 2 max(kv, c)) dim bytes a layer";
}

std::string context_operation(const Settings& s) {
  return rings(s) ? "ring_hop" : "all_to_all";
}

std::int64_t pairs_of_sample(const std::string& layout, int ranks, int rank, std::size_t length) {
  const std::size_t blocks = blocks_of(layout, ranks);
  const std::size_t width = (length + blocks - 1) / blocks;
  const auto first = static_cast<std::size_t>(rank);
  return pairs_of_block(length, width, first) +
         (layout == "zigzag" ? pairs_of_block(length, width, blocks - 1 - first) : 0);
}

std::int64_t head_pairs_formula(const Settings& s, std::string_view text, int rank) {
  const Mesh mesh = mesh_of(s, rank);
  const std::int64_t heads = s.model.heads / s.parallel.tp;
  std::int64_t pairs = 0;
  for_samples(s, text, rank, [&](std::size_t length, int blocks) {
    pairs += blocks * (rings(s) ? heads * pairs_of_sample(s.parallel.cp_layout, s.parallel.cp,
                                                          mesh.at(Axis::cp), length)
                                : heads / s.parallel.cp * signed_of(length * (length + 1) / 2));
  });
  return pairs;
}

}  // namespace ringside
