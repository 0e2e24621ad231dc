#include "scenarios/pipeline_formula.hpp"

#include "parallel/shard_map.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/pipeline_settings.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

// Rows that travel of a micro-batch.
std::int64_t rows_of(const Settings& s, const Batch& batch) {
  std::size_t rows = 0;
  for (const std::size_t length : batch.lengths) {
    rows +=
        s.parallel.cp > 1
            ? TokenBlocks(parse_context_layout(s.parallel.cp_layout), s.parallel.cp).rows(length)
            : length;
  }
  const auto tp = static_cast<std::size_t>(s.parallel.sp ? s.parallel.tp : 1);
  return static_cast<std::int64_t>((rows + tp - 1) / tp);
}

// Activations and gradients of a micro-batch that a device sends; of those that it receives, the
// other way round: each border that is crossed once forward is crossed once back.
std::int64_t crossings(const StagePlacement& placement, int stages, int microbatch, int device) {
  std::int64_t count = 0;
  for (int stage = 0; stage + 1 < stages; ++stage) {
    const int before = placement.device_of(stage, microbatch);
    const int after = placement.device_of(stage + 1, microbatch);
    count += before != after && (before == device || after == device) ? 1 : 0;
  }
  return count;
}

}  // namespace

Figures stages_formula(const Settings& s, std::string_view text, int rank) {
  const Mesh mesh = mesh_of(s, rank);
  const Schedule schedule = schedule_of(s);
  const StagePlacement placement(schedule);
  std::int64_t rows = 0;
  for_each_microbatch(plan_of(s, text), batch_share_of(s, rank), [&](int m, const Batch& batch) {
    rows += crossings(placement, schedule.stages, m, mesh.at(Axis::pp)) * rows_of(s, batch);
  });
  const std::int64_t bytes = rows * s.model.hidden * element_of(s);
  return {bytes, bytes};
}

Figures stage_numbers_formula(const Settings& s, int rank) {
  const AxisGroup group(s, {Axis::pp}, rank);
  return all_reduce_elements(s, group, 1, 8) * (std::int64_t{8} * 2 * s.train.steps);
}

Figures stage_copies_formula(const Settings& s, int rank) {
  const Schedule schedule = schedule_of(s);
  const StagePlacement placement(schedule);
  const int device = mesh_of(s, rank).at(Axis::pp);
  const int first = placement.devices_of(0).front();
  const int last = placement.devices_of(schedule.stages - 1).front();
  const bool all = placement.devices_of(placement.stages_on(device).front()).size() > 1;
  const bool table = !all && s.model.tied && first != last && (device == first || device == last);
  std::int64_t bytes = 0;
  for (const Held held : parts_held(s)) {
    const AxisGroup group = holders_of(s, held, rank);
    const auto buckets = buckets_of(s, rank, held);
    for (const Bucket& bucket : buckets) {
      // The head's is the first to be reduced.
      const bool tied = table && held == Held::dense &&
                        (device == first ? bucket.last_layer() == 0 : &bucket == &buckets.front());
      if (all || tied) {
        // Two ranks: each sends as much as there is.
        bytes += static_cast<std::int64_t>(
            s.parallel.zero > 0 ? real_elements(bucket, group.size, group.me) : bucket.count);
      }
    }
  }
  bytes *= s.train.steps * element_of(s);
  return {bytes, bytes};
}

}  // namespace ringside
