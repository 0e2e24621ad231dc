// Bytes of a plan against the chapter's figures and against counting one message after another.
#include "parallel/plan_traffic.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "parallel/plan_share.hpp"

namespace ringside {
namespace {

const PublishedModel& anchor() {
  static const PublishedModel model = published_model("qwen3.8-27b");
  return model;
}

constexpr std::size_t tokens = 4096;

Cluster nodes_of(int gpus) {
  Cluster cluster;
  cluster.gpus_per_node = gpus;
  return cluster;
}

std::vector<PlannedSending> sendings(const MeshPlan& plan, int rank = 0,
                                     const PublishedModel& model = anchor(),
                                     std::size_t sequence = tokens) {
  return planned_sendings(plan, model, sequence, nodes_of(8), rank);
}

// Of the rows of a group whose `what` begins so.
std::int64_t bytes(const std::vector<PlannedSending>& rows, std::string_view group,
                   std::string_view what = "") {
  std::int64_t sum = 0;
  for (const PlannedSending& row : rows) {
    sum += row.group == group && row.what.starts_with(what) ? row.bytes : 0;
  }
  return sum;
}

TEST(PlanTraffic, OneRankSendsNothing) {
  EXPECT_TRUE(sendings({}).empty());
}

// DP07, DP08, ZR04 of the chapter's figures.
TEST(PlanTraffic, DataParallelismSendsTheChaptersBytes) {
  const MeshPlan eight{.mesh = {.dp = 8}, .batch = 8};
  EXPECT_EQ(bytes(sendings(eight), "dp x cp"), 97'234'997'832);
  EXPECT_EQ(bytes(sendings({.mesh = {.dp = 64}, .batch = 64}), "dp x cp"), 109'389'372'561);
  MeshPlan zero = eight;
  for (const auto& [stage, sent] :
       {std::pair{1, 97'234'997'832}, {2, 97'234'997'832}, {3, 145'852'496'748}}) {
    zero.zero = stage;
    EXPECT_EQ(bytes(sendings(zero), "dp x cp"), sent) << stage;
  }
}

// Stage 2 reduces, and stage 3 gathers too, for every micro-batch.
TEST(PlanTraffic, ZeroSendsForEveryMicrobatch) {
  MeshPlan plan{.mesh = {.dp = 8}, .microbatches = 4, .batch = 32};
  const std::int64_t half = 97'234'997'832 / 2;
  for (const auto& [stage, passes] : {std::pair{0, 2}, {1, 2}, {2, 5}, {3, 12}}) {
    plan.zero = stage;
    EXPECT_EQ(bytes(sendings(plan), "dp x cp"), passes * half) << stage;
  }
}

// TP03.
TEST(PlanTraffic, TensorParallelismSendsTheChaptersBytes) {
  MeshPlan plan{.mesh = {.tp = 8}};
  const std::int64_t in_the_layers = 18'790'481'920;
  EXPECT_EQ(bytes(sendings(plan), "tp", "activations of 64 layers"), in_the_layers);
  EXPECT_EQ(bytes(sendings(plan), "tp", "embedding"), in_the_layers / 256);
  EXPECT_EQ(bytes(sendings(plan), "tp", "head"), in_the_layers / 256);
  plan.sequence_parallel = true;
  EXPECT_EQ(bytes(sendings(plan), "tp", "activations"), in_the_layers);
  plan.mesh.tp = 4;
  EXPECT_NE(bytes(sendings(plan), "tp", "activations"), in_the_layers);
}

// ZR00-ZR03 and the 68.3 GB that a card of tp/anchor holds.
TEST(PlanTraffic, ModelStateIsTheChapters) {
  MeshPlan plan{.mesh = {.dp = 8}, .batch = 8};
  for (const auto& [stage, state] : {std::pair{0, 444'502'847'232},
                                     {1, 152'797'853'736},
                                     {2, 104'180'354'820},
                                     {3, 55'562'855'904}}) {
    plan.zero = stage;
    EXPECT_EQ(state_bytes(plan, share_of(plan, anchor(), 0)), state) << stage;
  }
}

// PP03: a hop of 4,096 tokens is 41,943,040 bytes.
TEST(PlanTraffic, AStageSendsToTheOneAfterAndTheOneBefore) {
  const MeshPlan plan{.mesh = {.tp = 8, .pp = 4}, .microbatches = 8, .batch = 8};
  const std::int64_t hops = 8 * 41'943'040;
  EXPECT_EQ(bytes(sendings(plan, 3), "pp"), hops);
  EXPECT_EQ(bytes(sendings(plan, 11), "pp", "activations to rank 19"), hops);
  EXPECT_EQ(bytes(sendings(plan, 11), "pp", "gradients of activations to rank 3"), hops);
  EXPECT_EQ(bytes(sendings(plan, 27), "pp"), hops);
  MeshPlan sp = plan;
  sp.sequence_parallel = true;
  EXPECT_EQ(bytes(sendings(sp, 3), "pp"), hops / 8);
}

std::int64_t pipeline_bytes(const MeshPlan& plan) {
  std::int64_t sum = 0;
  for (int r = 0; r < plan.mesh.ranks(); ++r) {
    sum += bytes(sendings(plan, r), "pp");
  }
  return sum;
}

// All ranks together (p v - 1)/(p - 1) times 1f1b's: 31/7 at p = 8, v = 4 (Narayanan, 2.2.2).
TEST(PlanTraffic, InterleavedSendsMore) {
  MeshPlan plan{.mesh = {.pp = 8}, .microbatches = 8, .batch = 8};
  const std::int64_t plain = pipeline_bytes(plan);
  EXPECT_EQ(plain, 2 * 7 * 8 * 41'943'040LL);
  const std::int64_t of_rank_3 = bytes(sendings(plan, 3), "pp");
  plan.schedule = "interleaved";
  plan.chunks = 4;
  EXPECT_EQ(pipeline_bytes(plan), plain / 7 * 31);
  EXPECT_EQ(bytes(sendings(plan, 3), "pp"), 4 * of_rank_3);
}

// Each direction's half of the micro-batches goes through each of a device's two stages.
TEST(PlanTraffic, DualPipeSendsAsManyActivationsAndReducesItsCopies) {
  MeshPlan plan{.mesh = {.pp = 4}, .microbatches = 8, .batch = 8};
  const std::int64_t plain = pipeline_bytes(plan);
  plan.schedule = "dualpipe";
  std::int64_t hops = 0;
  for (int r = 0; r < 4; ++r) {
    const auto rows = sendings(plan, r);
    hops += bytes(rows, "pp", "activations") + bytes(rows, "pp", "gradients of activations");
    const PlanShare share = share_of(plan, anchor(), r);
    EXPECT_EQ(share.stages.size(), 2U);
    EXPECT_EQ(bytes(rows, "pp", "gradients of the two copies"), 2 * share.dense);
  }
  EXPECT_EQ(hops, plain);
  plan.mesh.tp = 8;
  EXPECT_EQ(bytes(sendings(plan), "tp", "activations of 32 layers"), 8 * 18'790'481'920 / 4);
}

TEST(PlanTraffic, StagesHaveAllParametersBetweenThem) {
  for (const char* schedule : {"1f1b", "interleaved", "dualpipev"}) {
    const MeshPlan plan{.mesh = {.pp = 8},
                        .schedule = schedule,
                        .chunks = std::string(schedule) == "interleaved" ? 4 : 1,
                        .microbatches = 16,
                        .batch = 16};
    std::int64_t parameters = 0;
    std::vector<std::size_t> blocks;
    for (int r = 0; r < 8; ++r) {
      const PlanShare share = share_of(plan, anchor(), r);
      parameters += share.dense;
      blocks.insert(blocks.end(), share.blocks.begin(), share.blocks.end());
    }
    EXPECT_EQ(parameters, 27'781'427'952) << schedule;
    std::ranges::sort(blocks);
    EXPECT_EQ(std::ranges::unique(blocks).size(), 0U) << schedule;
    EXPECT_EQ(blocks.size(), 64U) << schedule;
  }
}

// CP02, CP04: 7 hops of 67,108,864 a full-attention layer, of which every fourth is one; backward
// 7 hops of K and V again, and 8 of their gradients.
TEST(PlanTraffic, ContextParallelismSendsTheChaptersBlocks) {
  MeshPlan plan{.mesh = {.cp = 8}};
  const auto rows = sendings(plan, 0, anchor(), 131'072);
  EXPECT_EQ(bytes(rows, "cp"), 16 * (469'762'048LL + 469'762'048 + 8 * 67'108'864));
  EXPECT_EQ(bytes(rows, "dp x cp"), 97'234'997'832) << "gradients are summed over cp too";
  plan = {.mesh = {.cp = 4}, .cp_form = "ulysses"};
  // (c-1)/c of 1,024 tokens of 24 + 24 heads and 4 + 4 KV heads of 256, forward and backward.
  EXPECT_EQ(bytes(sendings(plan), "cp"), 16LL * 2 * 3 * 1024 / 4 * (48 + 8) * 256 * 2);
}

// EP01, EP02: 4 of 256 experts a layer; formulas.md: T k h 2 (e-1)/e a dispatch.
TEST(PlanTraffic, ExpertsTravelByAllToAll) {
  const PublishedModel model = published_model("deepseek-v3");
  const MeshPlan plan{.mesh = {.dp = 128}, .ep = 64, .batch = 128};
  const auto rows = sendings(plan, 5, model);
  const std::int64_t dispatch = 4096LL * 8 * 7168 * 2 / 64 * 63;
  EXPECT_EQ(bytes(rows, "ep"), 58 * 4 * dispatch);
  const PlanShare share = share_of(plan, model, 5);
  const std::int64_t routed = 653'908'770'816;
  EXPECT_EQ(share.experts, routed / 64);
  EXPECT_EQ(bytes(rows, "expert dp"), 2 * share.experts);
  const auto group = std::ranges::find(rows, "expert dp", &PlannedSending::group)->members;
  EXPECT_EQ(group, (std::vector<int>{5, 69}));
}

TEST(PlanTraffic, TheLinkIsThatOfTheSlowestPair) {
  const Cluster cluster = nodes_of(8);
  EXPECT_EQ(link_of(cluster, {3}), LinkClass::self);
  EXPECT_EQ(link_of(cluster, {0, 7}), LinkClass::nvlink);
  EXPECT_EQ(link_of(cluster, {6, 7, 8}), LinkClass::ib);
  EXPECT_EQ(link_of(cluster, {7, 8}), LinkClass::ib);
  const auto inside = sendings({.mesh = {.tp = 8}});
  EXPECT_EQ(inside.front().link, LinkClass::nvlink);
  EXPECT_EQ(inside.front().time.count(), 18'790'481'920 * 1000 / 160);  // ps at 160 GB/s
  const auto across = planned_sendings({.mesh = {.tp = 8}}, anchor(), tokens, nodes_of(4), 0);
  EXPECT_EQ(across.front().time.count(), 18'790'481'920 * 1000 / 50);
}

// M8: a batch of 30 on DP = 4 is 8, 8, 7, 7 samples.
TEST(PlanTraffic, CaseM8UnevenBatchesAreCountedByRank) {
  const MeshPlan plan{.mesh = {.tp = 2, .dp = 4}, .microbatches = 2, .batch = 30};
  const std::int64_t sample = 18'790'481'920 / 7 * 4;  // 2(t-1)/t is 1 in place of 7/4
  for (const auto& [rank, samples] : {std::pair{0, 8}, {2, 8}, {4, 7}, {6, 7}}) {
    EXPECT_EQ(bytes(sendings(plan, rank), "tp", "activations"), samples * sample) << rank;
  }
}

}  // namespace
}  // namespace ringside
