// ZeRO over the replicas of a model that tensor parallelism has cut: against one process, and bit
// for bit against plain data parallelism on the same mesh.
#include <gtest/gtest.h>

#include "parallel/sharded_record.hpp"
#include "parallel/zero.hpp"
#include "tests/parallel/tensor_training.hpp"

namespace ringside {
namespace {

std::vector<PieceOf> parts_in(const std::vector<Parameter*>& parameters) {
  std::vector<PieceOf> parts;
  for (const Parameter* p : parameters) {
    parts.push_back({.shape = p->value.shape(), .layout = p->layout});
  }
  return parts;
}

std::vector<std::size_t> tensors_in(Model& model) {
  std::vector<std::size_t> tensors;
  for (const auto& layer : model.layers()) {
    tensors.push_back(layer.size());
  }
  return tensors;
}

struct Bits {
  std::vector<double> gradients{};  // of a rank's shards, every step
  std::vector<double> parameters{};
};

void append(std::vector<double>& all, const std::vector<double>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// One rank, beside the whole tensors of `truth`.
TensorSeen train_zero_rank(Rank& rank, const TensorTraining& on, const TrainingPlan& plan,
                           ZeroOptions options, const std::vector<StepRecord>& truth, Bits& bits) {
  const Mesh mesh(on.mesh, rank.id());
  Comm tp_group(rank, "tp", mesh.members({Axis::tp}));
  Comm dp_group(rank, "dp", mesh.members({Axis::dp}));
  const auto& config = std::get<GptConfig>(plan.model);
  TensorParallel tp(tp_group, rank.memory(), config, on.options);
  const auto model = make_gpt({rank.memory(), rank.clock()}, config,
                              plan.data.seed + static_cast<std::uint64_t>(mesh.at(Axis::dp)),
                              {.cut = tp.cut(), .seam = tp.seam()});
  const auto layers = model->layers();
  const auto parts = parts_in(flatten(layers));
  const auto tensors = tensors_in(*model);
  options.buckets.limit = on.bucket;
  options.complete = [&](std::size_t layer) { tp.sum_partial_gradients(layers[layer]); };
  options.counts = [&](const Parameter& part) { return tp.counts_here(part.piece->layout); };
  options.add_parts = [&](double squares) { return tp.sum(squares); };
  Zero zero(dp_group, rank.memory(), *model, options);
  const auto optimizer = make_optimizer(plan.optimizer, rank.memory(), zero.parameters());
  DataParallelStep step(dp_group, zero, *model, plan, on.microbatches);
  TensorSeen seen;
  train(plan, zero.parameters(), *optimizer, std::ref(step),
        [&](int s, const StepRecord& record) {
          zero.end_update();
          StepRecord part = truth[static_cast<std::size_t>(s)];
          part.gradients = parts_of(parts, part.gradients);
          part.parameters = parts_of(parts, part.parameters);
          const auto mine = whole_tensors(record, zero.pieces(), tensors, part);
          const DType dtype = dtype_of(plan.model);
          const auto g = deviation(part.gradients, mine.gradients, dtype);
          const auto p = deviation(part.parameters, mine.parameters, dtype);
          seen = worst_of({seen,
                           {.gradients = g.absolute,
                            .of_largest = g.of_largest,
                            .parameters = p.absolute,
                            .loss = relative(part.loss, record.loss),
                            .norm = relative(part.gradient_norm, record.gradient_norm)}});
          append(bits.gradients, elements_in(zero.pieces(), tensors, mine.gradients));
          append(bits.parameters, elements_in(zero.pieces(), tensors, mine.parameters));
        },
        {.norm = [&] { return zero.gradient_norm(); }});
  return seen;
}

TensorSeen train_zero_on(const TensorTraining& on, const TrainingPlan& plan,
                         const ZeroOptions& options, const std::vector<StepRecord>& truth) {
  return worst_of(run_ranks_tested(on.mesh.ranks(), job_of(on, plan), [&](Rank& rank) {
    Bits bits;
    return train_zero_rank(rank, on, plan, options, truth, bits);
  }));
}

const std::vector<MeshShape> meshes{{.tp = 2, .dp = 2}, {.tp = 4, .dp = 2}, {.tp = 2, .dp = 4}};

void expect_f64(const TensorTraining& on, const TrainingPlan& plan, const ZeroOptions& options,
                const std::vector<StepRecord>& truth) {
  const auto seen = train_zero_on(on, plan, options, truth);
  const std::string what = "tp " + std::to_string(on.mesh.tp) + ", dp " +
                           std::to_string(on.mesh.dp) + ", stage " + std::to_string(options.stage) +
                           (on.options.sequence ? ", sequence parallel" : "");
  EXPECT_LT(seen.gradients, 1e-12) << what;
  EXPECT_LT(seen.parameters, 1e-12) << what;
  EXPECT_LT(seen.loss, 1e-12) << what;
  EXPECT_LT(seen.norm, 1e-12) << what;
}

TEST(TensorZero, EqualsOneProcessInEveryStageOnEveryMesh) {
  for (const bool tied : {false, true}) {
    TrainingPlan plan = gpt_plan(small_gpt(DType::f64, tied));
    plan.clip = 0.05;  // every step: the norm decides the update
    const auto truth = train_alone(plan);
    EXPECT_LT(truth.front().clip_factor, 1);
    for (const MeshShape& mesh : meshes) {
      for (const bool sequence : {false, true}) {
        for (const int stage : {1, 2, 3}) {
          expect_f64({.mesh = mesh, .options = {.sequence = sequence}}, plan,
                     {.stage = stage, .buckets = {.alignment = 6}}, truth);
        }
      }
    }
  }
}

TEST(TensorZero, EqualsOneProcessWithMicrobatchesAndWithoutOverlap) {
  const TrainingPlan plan = gpt_plan(small_gpt());
  const auto truth = train_alone(plan);
  for (const int stage : {1, 2, 3}) {
    const TensorTraining on{
        .mesh = {.tp = 4, .dp = 2}, .options = {.sequence = true}, .microbatches = 2};
    expect_f64(on, plan, {.stage = stage}, truth);
    expect_f64(on, plan, {.stage = stage, .overlap = false, .prefetch = false}, truth);
  }
}

TEST(TensorZero, EqualsOneProcessInThreadsToo) {
  const TrainingPlan plan = gpt_plan(small_gpt());
  expect_f64({.mesh = {.tp = 2, .dp = 2}, .options = {.sequence = true}, .as = Ranks::threads},
             plan, {.stage = 3}, train_alone(plan));
}

// The gates of docs/exactness.md.
TEST(TensorZero, PassesTheGatesInF32) {
  const TrainingPlan plan = gpt_plan(small_gpt(DType::f32));
  const auto truth = train_alone(plan);
  for (const MeshShape& mesh : meshes) {
    for (const int stage : {1, 2, 3}) {
      const auto seen = train_zero_on({.mesh = mesh}, plan, {.stage = stage}, truth);
      EXPECT_LT(seen.gradients, 1e-6) << stage;
      EXPECT_LT(seen.of_largest, 1e-5) << stage;
      EXPECT_LT(seen.parameters, 1e-6) << stage;
      EXPECT_LT(seen.norm, 1e-6) << stage;
    }
  }
}

// Of a rank's shards, as data parallelism on the same mesh has them.
Bits bits_of_data_parallelism(Rank& rank, const TensorTraining& on, const TrainingPlan& plan,
                              std::size_t alignment) {
  const Mesh mesh(on.mesh, rank.id());
  const auto counts = tensor_counts(std::get<GptConfig>(plan.model), on.mesh.tp);
  const auto buckets =
      cut_buckets(counts, {.limit = on.bucket, .by = on.by, .alignment = alignment},
                  size_of(dtype_of(plan.model)), on.mesh.dp);
  const auto pieces = pieces_of(buckets, on.mesh.dp, mesh.at(Axis::dp));
  std::vector<std::size_t> tensors;
  for (const auto& layer : counts) {
    tensors.push_back(layer.size());
  }
  Bits bits;
  train_tensor_rank(rank, on, plan, [&](int, const StepRecord& record, const auto&) {
    append(bits.gradients, elements_in(pieces, tensors, record.gradients));
    append(bits.parameters, elements_in(pieces, tensors, record.parameters));
  });
  return bits;
}

TEST(TensorZero, HasTheBitsOfDataParallelismOnTheSameMesh) {
  for (const std::string optimizer : {"sgd", "adamw"}) {
    const TrainingPlan plan = gpt_plan(small_gpt(DType::f32), optimizer);
    const auto truth = train_alone(plan);
    const TensorTraining by_size{.mesh = {.tp = 4, .dp = 2}, .options = {.sequence = true}};
    run_ranks_tested(by_size.mesh.ranks(), job_of(by_size, plan), [&](Rank& rank) {
      for (const int stage : {1, 2, 3}) {
        TensorTraining on = by_size;
        on.by = stage == 3 ? BucketBy::layer : BucketBy::size;
        const Bits dp = bits_of_data_parallelism(rank, on, plan, 1);
        Bits zero;
        train_zero_rank(rank, on, plan, {.stage = stage}, truth, zero);
        EXPECT_EQ(zero.gradients, dp.gradients) << stage;
        EXPECT_EQ(zero.parameters, dp.parameters) << stage;
        EXPECT_FALSE(zero.gradients.empty());
      }
    });
  }
}

// Each fault shows where it must; a replicated parameter that counts on every rank only in the
// norm.
TEST(TensorZero, AFaultIsFarOutsideTheGate) {
  const TrainingPlan plan = gpt_plan(small_gpt());
  const auto truth = train_alone(plan);
  const TensorTraining sound{.mesh = {.tp = 4, .dp = 2}, .options = {.sequence = true}};
  for (const int stage : {1, 2, 3}) {
    TensorTraining on = sound;
    on.options.fault = Fault::norm_counted_per_rank;
    const auto counted = train_zero_on(on, plan, {.stage = stage}, truth);
    EXPECT_GT(counted.norm, 1e-3) << stage;
    EXPECT_LT(counted.gradients, 1e-12) << stage;
    on.options.fault = Fault::replicated_gradient_not_summed;
    EXPECT_GT(train_zero_on(on, plan, {.stage = stage}, truth).gradients, 1e-6) << stage;
    const ZeroOptions wrong{.stage = stage, .fault = Fault::shard_offset_wrong};
    EXPECT_GT(train_zero_on(sound, plan, wrong, truth).gradients, 1e-6) << stage;
    const ZeroOptions local{.stage = stage, .fault = Fault::norm_of_rank};
    EXPECT_GT(train_zero_on(sound, plan, local, truth).norm, 1e-3) << stage;
  }
}

}  // namespace
}  // namespace ringside
