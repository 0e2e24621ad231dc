#include "scenarios/tensor_formula.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>

#include "models/published_cut.hpp"
#include "scenarios/context_formula.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/pipeline_settings.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

// Rows that a rank has of these samples.
std::size_t rows_of(const Settings& s, const Batch& batch) {
  std::size_t rows = 0;
  for (const std::size_t length : batch.lengths) {
    rows += s.parallel.cp > 1 ? rows_of_sample(s, length) : length;
  }
  return rows;
}

// For each micro-batch of all steps that a rank has, its tokens.
void for_tokens(const Settings& s, std::string_view text, int rank,
                const std::function<void(int microbatch, std::size_t tokens)>& see) {
  const BatchShare share = batch_share_of(s, rank);
  if (!at_true_scale(s)) {
    for_each_microbatch(plan_of(s, text), share,
                        [&](int m, const Batch& batch) { see(m, rows_of(s, batch)); });
    return;
  }
  const auto batch = static_cast<std::uint64_t>(s.train.batch);
  for (int i = 0; i < s.train.steps * share.microbatches; ++i) {
    const int m = i % share.microbatches;
    see(m, samples_of(batch, share, m).count * static_cast<std::size_t>(s.model.sequence));
  }
}

std::size_t hidden_of(const Settings& s) {
  return at_true_scale(s) ? counted_model_of(s).config.hidden
                          : static_cast<std::size_t>(s.model.hidden);
}

// An all-reduce of [tokens, hidden], or the reduce-scatter and all-gather in its place.
Figures seam_formula(const Settings& s, const AxisGroup& group, std::size_t tokens) {
  const auto ranks = static_cast<std::size_t>(group.size);
  if (!s.parallel.sp) {
    const std::size_t n = tokens * hidden_of(s);
    return all_reduce_elements(s, group, n, n * static_cast<std::size_t>(element_of(s)));
  }
  const std::size_t rows = (tokens + ranks - 1) / ranks;
  const std::size_t n = rows * ranks * hidden_of(s);
  const std::size_t bytes = n * static_cast<std::size_t>(element_of(s));
  Figures passes = reduce_scatter_elements(s, group, n, bytes);
  return passes += all_gather_elements(s, group, n, bytes);
}

// `seams`: of a micro-batch.
Figures seams_formula(const Settings& s, std::string_view text, int rank,
                      const std::function<int(int microbatch)>& seams) {
  const AxisGroup group(s, {Axis::tp}, rank);
  Figures figures;
  for_tokens(s, text, rank, [&](int microbatch, std::size_t tokens) {
    figures += seam_formula(s, group, tokens) * seams(microbatch);
  });
  return figures * element_of(s);
}

// One forward, one back of attention, and as many of an MLP, not of a mixture, which every rank has
// whole; forward again when all is recomputed.
int seams_of_a_block(const Settings& s) {
  return (has_experts(s) ? 1 : 2) * (s.parallel.recompute == "full" ? 3 : 2);
}

// Elements whose gradient so many neighbouring ranks each have a part of.
struct HeldInParts {
  std::size_t elements = 0;
  int copies = 1;
};

std::vector<HeldInParts> held_in_parts(const Settings& s, const GptConfig& config, int rank) {
  const LayersHere here = layers_here(s, rank, std::nullopt);
  const auto blocks = static_cast<std::size_t>(here.blocks);
  std::vector<HeldInParts> all;
  if (s.parallel.sp) {
    all.resize(2 * blocks + static_cast<std::size_t>(here.norm), {config.hidden, s.parallel.tp});
    if (config.experts > 0) {
      const std::size_t experts = 3 * config.experts / static_cast<std::size_t>(s.parallel.ep);
      all.resize(all.size() + blocks, {config.hidden * config.experts, s.parallel.tp});
      all.resize(all.size() + blocks * experts, {config.hidden * config.ffn, s.parallel.tp});
    }
  }
  const GptShare share = share_of(config, {.rank = 0, .ranks = s.parallel.tp});
  if (share.kv_copies > 1) {
    const std::size_t n = config.hidden * config.head_width() * share.kv_heads.count;
    all.resize(all.size() + 2 * blocks, {n, share.kv_copies});
  }
  return all;
}

std::vector<HeldInParts> held_in_parts(const Settings& s, const PublishedModel& model) {
  std::vector<HeldInParts> all;
  for (const PublishedLayer& layer : model.layers) {
    for (const PublishedTensor& tensor : layer.tensors) {
      const auto [shape, layout, products] =
          share_of(tensor, {.rank = 0, .ranks = s.parallel.tp}, layer.kind);
      const bool rows = s.parallel.sp && layout.dimension < 0 && layer.kind != LayerKind::vision;
      if (tensor.trained && (layout.partial_gradient || rows)) {
        all.push_back(
            {std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>()),
             layout.copies});
      }
    }
  }
  return all;
}

}  // namespace

Figures blocks_formula(const Settings& s, std::string_view text, int rank) {
  if (at_true_scale(s)) {
    const PublishedModel& model = counted_model_of(s);
    const auto halves = std::ranges::count_if(
        model.layers, [](const auto& l) { return l.name.starts_with("layers."); });
    return seams_formula(s, text, rank, [&](int) { return 2 * static_cast<int>(halves); });
  }
  return seams_formula(s, text, rank,
                       [&](int m) { return seams_of_a_block(s) * layers_here(s, rank, m).blocks; });
}

Figures ends_formula(const Settings& s, std::string_view text, int rank) {
  return seams_formula(s, text, rank, [&](int m) {
    const LayersHere here = layers_here(s, rank, m);
    return here.embed + here.head;
  });
}

Figures softmax_formula(const Settings& s, std::string_view text, int rank) {
  const AxisGroup group(s, {Axis::tp}, rank);
  Figures figures;
  for_tokens(s, text, rank, [&](int microbatch, std::size_t tokens) {
    if (layers_here(s, rank, microbatch).head > 0) {
      figures += all_reduce_elements(s, group, tokens, 8 * tokens);
      figures += all_reduce_elements(s, group, 2 * tokens, 16 * tokens);
    }
  });
  return figures * 8;
}

namespace {

// How often a step reduces what a rank has: on a pipeline's device the micro-batches that it takes
// through its stages, which with dualpipe are half of them.
std::int64_t reductions_here(const Settings& s, int rank) {
  if (s.parallel.pp == 1 || s.parallel.zero < 2) {
    return reductions_of(s);
  }
  const Schedule schedule = schedule_of(s);
  const int device = mesh_of(s, rank).at(Axis::pp);
  const int stage = StagePlacement(schedule).stages_on(device).front();
  return static_cast<std::int64_t>(weight_gradient_order(schedule, device, stage).size());
}

}  // namespace

Figures copies_formula(const Settings& s, int rank) {
  const AxisGroup group(s, {Axis::tp}, rank);
  const auto held = at_true_scale(s) ? held_in_parts(s, counted_model_of(s))
                                     : held_in_parts(s, std::get<GptConfig>(model_of(s)), rank);
  Figures figures;
  for (const auto& [elements, copies] : held) {
    figures += all_reduce_elements(s, group.neighbours(copies), elements,
                                   elements * static_cast<std::size_t>(element_of(s)));
  }
  figures = figures * (reductions_here(s, rank) * s.train.steps * element_of(s));
  return figures += all_reduce_elements(s, group, 1, 8) * (std::int64_t{8} * s.train.steps);
}

}  // namespace ringside
