// `ringside run` from end to end: every scenario, many shapes of cluster, texts, and what a run
// leaves behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "models/text.hpp"
#include "scenarios/exit_codes.hpp"
#include "scenarios/scenario_file.hpp"
#include "tests/scenarios/refusal.hpp"
#include "tests/scenarios/traffic_lines.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

const std::string acceptance = "run dp/gradient_equivalence --json";
constexpr int controls = 5;

// The check of this name; null when there is none.
nlohmann::json check(const nlohmann::json& document, const std::string& name) {
  for (const auto& row : document["checks"]) {
    if (row["name"] == name) {
      return row;
    }
  }
  return nullptr;
}

// Of deliberate faults, those with this verdict.
int controls_with(const nlohmann::json& document, const std::string& verdict) {
  const auto& rows = document["checks"];
  return static_cast<int>(std::count_if(rows.begin(), rows.end(), [&](const auto& row) {
    return row["control"] == true && row["verdict"] == verdict;
  }));
}

// The document of a run that has passed, all its checks too.
nlohmann::json passed(const Ended& ended) {
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err;
  EXPECT_EQ(ended.err, "");
  const auto document = ended.document();
  EXPECT_FALSE(document.is_discarded()) << ended.out;
  EXPECT_EQ(document["verdict"], "pass");
  EXPECT_FALSE(document["checks"].empty());
  for (const auto& row : document["checks"]) {
    EXPECT_NE(row["verdict"], "fail") << row.dump();
    EXPECT_TRUE(row.contains("measured") && row.contains("gate")) << row.dump();
  }
  return document;
}

struct Expected {
  const char* scenario;
  std::vector<const char*> checks;
};

const std::vector<const char*> zero_checks{"f32.gradient",
                                           "f64.gradient",
                                           "sgd.parameters",
                                           "zero_bits",
                                           "traffic",
                                           "model_state.of_a_rank",
                                           "control.gradient_scaled",
                                           "control.shard_offset_wrong",
                                           "control.norm_of_rank",
                                           "control.padding_counted_in_norm",
                                           "control.parameters_not_gathered"};

const std::vector<const char*> anchor_checks{"traffic",
                                             "model_state.of_a_rank",
                                             "exposed.all_reduce",
                                             "exposed.backward",
                                             "exposed.time",
                                             "exposed.tokens_to_hide",
                                             "exposed.by_counted_account",
                                             "exposed.share_of_communication",
                                             "control.last_bucket_dropped",
                                             "control.moment_not_kept",
                                             "control.reduced_after_backward",
                                             "control.other_account"};

const std::vector<const char*> context_checks{"f32.gradient",
                                              "f64.gradient",
                                              "adamw.gradient",
                                              "replicas.bits",
                                              "traffic",
                                              "pairs.rank_3",
                                              "pairs.ranks_that_differ",
                                              "pairs.of_16_tokens",
                                              "pairs.operations_of_16_tokens",
                                              "control.positions_reset",
                                              "control.kv_hop_skipped",
                                              "control.kv_gradient_lost",
                                              "control.kv_gradient_lost_loss_over_100",
                                              "control.mean_of_means"};

const std::vector<Expected> scenarios{
    {"cp/contiguous", context_checks},
    {"cp/one_card", {"expect", "control.capacity_lifted", "layer_inputs.by_formula"}},
    {"cp/ulysses", context_checks},
    {"cp/zigzag", context_checks},
    {"dp/accumulation", {"f32.gradient", "accumulation", "replicas.bits", "traffic"}},
    {"dp/anchor_ib", anchor_checks},
    {"dp/anchor_nvlink", anchor_checks},
    {"dp/bucket_by_layer",
     {"f32.gradient", "traffic", "buckets.number", "buckets.messages", "buckets.bytes",
      "control.buckets_by_size"}},
    {"dp/bucket_by_size",
     {"f32.gradient", "traffic", "buckets.number", "buckets.messages", "buckets.bytes",
      "control.buckets_by_layer"}},
    {"dp/few_tokens", {"f32.gradient", "traffic", "exposed"}},
    {"dp/gradient_equivalence",
     {"f32.gradient", "f64.gradient", "shards_averaged.gradient", "shards_in_order.bits",
      "adamw.gradient", "replicas.bits", "traffic", "control.sum_not_mean",
      "control.last_bucket_dropped", "control.contribution_lost",
      "control.contribution_lost_loss_over_100", "control.weights_not_broadcast"}},
    {"dp/naive_gather", {"f32.gradient", "traffic", "busiest.rank_receives"}},
    {"dp/no_overlap", {"f32.gradient", "traffic", "exposed"}},
    {"dp/overlap", {"f32.gradient", "traffic", "exposed"}},
    {"dp/ring", {"f32.gradient", "replicas.bits", "traffic", "busiest.rank_receives"}},
    {"dp/two_nodes", {"f32.gradient", "one_node.gradient_bits", "traffic"}},
    {"ep/all_experts_everywhere", {"expect", "control.capacity_lifted", "model_state.by_formula"}},
    {"ep/dispatch",
     {"f32.gradient", "f64.gradient", "traffic.figures", "traffic.tokens_sent", "routing.dropped",
      "control.expert_gradient_divided", "control.dispatch_offset_wrong", "control.dropped_kept",
      "control.weights_not_broadcast", "control.norm_of_experts_here"}},
    {"ep/hot_expert",
     {"f32.gradient", "control.expert_gradient_divided", "traffic", "straggler.rows",
      "straggler.time"}},
    {"ep/no_overlap",
     {"f32.gradient", "control.sum_not_mean", "dispatch_overlap.time", "dispatch_overlap.bits"}},
    {"ep/node_limited",
     {"f32.gradient", "f64.gradient", "traffic.tokens_sent", "routing.nodes_of_a_token",
      "control.masked_groups_eligible", "control.expert_gradient_divided"}},
    {"ep/overlap",
     {"f32.gradient", "control.sum_not_mean", "dispatch_overlap.time", "dispatch_overlap.bits"}},
    {"ep/unlimited",
     {"f32.gradient", "control.dispatch_offset_wrong", "traffic.tokens_sent",
      "routing.nodes_of_a_token"}},
    {"pitfalls/random_experts", {"f32.gradient", "traffic.tokens_sent", "placement.across_nodes"}},
    {"mesh/64", {"f32.gradient", "control.leave_not_reduced", "traffic.figures", "replicas.bits"}},
    {"mesh/experts",
     {"f32.gradient", "f64.gradient", "traffic.figures", "traffic.tokens_sent",
      "model_state.of_a_rank", "replicas.copies", "routing.dropped", "control.shard_offset_wrong",
      "control.expert_gradient_divided", "control.dropped_kept", "control.kv_hop_skipped",
      "control.replicated_gradient_not_summed"}},
    {"mesh/8",
     {"f32.gradient", "f64.gradient", "traffic.figures", "replicas.bits", "pipeline.in_flight",
      "control.weight_gradient_lost", "control.gradient_scaled", "control.leave_not_reduced"}},
    {"pitfalls/batch_norm",
     {"f32.gradient", "f64.gradient", "replicas.bits", "traffic", "batch_norm.bytes_sent",
      "control.local_statistics", "control.local_statistics_loss_over_100",
      "control.sum_not_mean"}},
    {"pitfalls/few_microbatches",
     {"f32.gradient", "pipeline.makespan", "pipeline.bubble_over_total", "control.blocking_sends"}},
    {"pitfalls/learning_rate",
     {"f32.gradient", "f64.gradient", "traffic", "learning_rate.as_on_one_card",
      "learning_rate.by_the_rule", "other_rate.parameters", "control.rate_not_scaled",
      "control.sum_not_mean"}},
    {"pitfalls/tp_above_kv_heads",
     {"f64.gradient", "replicas.copies", "control.replicated_gradient_not_summed"}},
    {"pp/1f1b",
     {"f32.gradient", "f64.gradient", "traffic.figures", "pipeline.makespan",
      "pipeline.bubble_over_ideal", "pipeline.in_flight", "control.blocking_sends",
      "control.time_of_another_schedule", "control.weight_gradient_lost"}},
    {"pp/dualpipe",
     {"f32.gradient", "traffic.figures", "pipeline.makespan", "control.copies_not_summed"}},
    {"pp/gpipe", {"f32.gradient", "pipeline.makespan", "pipeline.in_flight"}},
    {"pp/interleaved",
     {"f32.gradient", "pipeline.makespan", "pipeline.devices_without_v_times",
      "pipeline.bytes_over_1f1b"}},
    {"pp/lm_head_balanced", {"f32.gradient", "pipeline.balance", "pipeline.stages"}},
    {"pp/lm_head_last", {"f32.gradient", "pipeline.balance", "pipeline.stages"}},
    {"pp/naive", {"f32.gradient", "pipeline.makespan", "pipeline.bubble_over_total"}},
    {"pp/zb_h1", {"f32.gradient", "pipeline.makespan", "pipeline.bubble_over_ideal"}},
    {"recompute/anchor_full",
     {"traffic", "model_state.of_a_rank", "recompute.layer_inputs", "recompute.in_flight",
      "recompute.activations", "recompute.fits_the_card", "recompute.time",
      "control.parameters_not_gathered", "control.moment_not_kept", "control.blocks_kept"}},
    {"recompute/full",
     {"f64.gradient", "recompute.bits", "recompute.activations", "recompute.time",
      "control.recompute_other_seed", "control.sum_not_mean"}},
    {"recompute/none", {"f64.gradient", "replicas.bits", "traffic"}},
    {"recompute/selective",
     {"f64.gradient", "recompute.bits", "recompute.activations", "recompute.time",
      "control.recompute_other_seed", "control.sum_not_mean"}},
    {"time/two_streams",
     {"time.two_streams.product", "time.two_streams.direct", "time.two_streams.ring",
      "time.two_streams.direct_again", "time.two_streams.ranks", "control.unlimited_concurrency",
      "control.one_queue", "control.gaps_are_load", "control.debts_unpaid"}},
    {"tp/across_nodes", {"f32.gradient", "traffic", "across_nodes.time"}},
    {"tp/anchor",
     {"traffic", "model_state.of_a_rank", "control.leave_not_reduced", "control.moment_not_kept"}},
    {"tp/column_row", {"split.difference", "split.bytes_sent", "control.leave_not_reduced"}},
    {"tp/kv_replication",
     {"f64.gradient", "replicas.copies", "traffic", "control.leave_not_reduced"}},
    {"tp/row_first", {"split.difference", "split.bytes_sent"}},
    {"tp/sequence_parallel",
     {"f64.gradient", "adamw.gradient", "replicas.copies", "replicas.bits", "traffic",
      "activations.peak", "control.leave_not_reduced", "control.leave_not_reduced_loss_over_100",
      "control.replicated_gradient_not_summed", "control.norm_counted_per_rank",
      "control.padding_counted"}},
    {"tp/zero3",
     {"f64.gradient", "adamw.gradient", "replicas.copies", "zero_bits", "traffic",
      "model_state.of_a_rank", "control.replicated_gradient_not_summed",
      "control.norm_counted_per_rank", "control.padding_counted", "control.gradient_scaled",
      "control.shard_offset_wrong", "control.norm_of_rank", "control.padding_counted_in_norm",
      "control.parameters_not_gathered"}},
    {"zero/dp_does_not_fit", {"expect", "control.capacity_lifted", "model_state.by_formula"}},
    {"zero/no_prefetch",
     {"f32.gradient", "zero_bits", "traffic", "prefetch.exposed",
      "control.padding_counted_in_norm"}},
    {"zero/prefetch",
     {"f32.gradient", "zero_bits", "traffic", "prefetch.exposed",
      "control.padding_counted_in_norm"}},
    {"zero/stage1", zero_checks},
    {"zero/stage2", zero_checks},
    {"zero/stage3", zero_checks},
    {"zero/zero3_fits",
     {"traffic", "model_state.of_a_rank", "control.parameters_not_gathered",
      "control.moment_not_kept", "control.padding_counted_in_norm"}}};

class EveryScenario : public testing::TestWithParam<Expected> {};

TEST_P(EveryScenario, PassesWithItsChecks) {
  const auto document = passed(run_program(std::string("run --json ") + GetParam().scenario));
  EXPECT_EQ(document["verb"], "run");
  EXPECT_EQ(document["scenario"], GetParam().scenario);
  const std::string first = document["first_sample"];
  EXPECT_TRUE(first.empty() || first.starts_with("小明")) << first;
  EXPECT_EQ(controls_with(document, "fail"), 0);
  for (const std::string start : GetParam().checks) {
    const auto& rows = document["checks"];
    EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const auto& row) {
      return row["name"].template get<std::string>().starts_with(start);
    })) << start;
  }
}

std::string scenario_of(const testing::TestParamInfo<Expected>& info) {
  std::string name = info.param.scenario;
  std::ranges::replace(name, '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(RunVerb, EveryScenario, testing::ValuesIn(scenarios), scenario_of);

TEST(RunVerb, RefusesMoreStepsThanTheReferenceHasMemoryFor) {
  const auto ended = run_program("run dp/ring --set train.steps=1000000");
  EXPECT_EQ(ended.exit_code, 2);
  EXPECT_NE(ended.err.find("train.steps = 1000000"), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("at most"), std::string::npos) << ended.err;
}

TEST(RunVerb, NoScenarioIsWithoutATest) {
  std::set<std::string> tested;
  for (const auto& expected : scenarios) {
    tested.insert(expected.scenario);
  }
  const auto document = run_program("list --json").document();
  for (const auto& row : document["scenarios"]) {
    EXPECT_TRUE(tested.contains(row["name"])) << row["name"];
  }
}

TEST(RunVerb, GradientsOfEveryNumberOfRanksEqualOneProcess) {
  for (const int ranks : {1, 2, 3, 5, 8, 16}) {
    SCOPED_TRACE(ranks);
    const auto document = passed(run_program(acceptance +
                                             " --set train.steps=2 --set model.hidden=32 --set "
                                             "train.batch=32 --set dp.bucket='8 KiB' --ranks " +
                                             std::to_string(ranks)));
    EXPECT_EQ(document["traffic"].size(), static_cast<std::size_t>(ranks));
    EXPECT_LT(check(document, "f32.gradient")["measured"].get<double>(), 1e-6);
    EXPECT_LT(check(document, "f64.gradient")["measured"].get<double>(), 1e-12);
    const int caught = controls_with(document, "pass");
    const int nothing_to_catch = controls_with(document, "not_applicable");
    EXPECT_EQ(caught + nothing_to_catch, controls);
    EXPECT_EQ(nothing_to_catch > 0, ranks == 1);
  }
}

TEST(RunVerb, NodesChangeNoBitOfAGradient) {
  const std::string bits_alone = acceptance + tiny_job + " --set 'checks.run=[\"one_node\"]'";
  EXPECT_EQ(check(passed(run_program(bits_alone)), "one_node.gradient_bits")["verdict"],
            "not_applicable");
  for (const int gpus : {4, 2, 1, 3}) {  // 2 × 4, 4 × 2, 8 × 1, 3 + 3 + 2
    SCOPED_TRACE(gpus);
    const auto nodes = std::to_string((8 + gpus - 1) / gpus);
    const auto document =
        passed(run_program(bits_alone + " --ranks 8 --set cluster.nodes=" + nodes +
                           " --set cluster.gpus_per_node=" + std::to_string(gpus)));
    const auto bits = check(document, "one_node.gradient_bits");
    EXPECT_EQ(bits["measured"], "equal");
    EXPECT_EQ(bits["verdict"], "pass");
    const auto sums = document["traffic"][0]["sums"];
    EXPECT_TRUE(std::any_of(sums.begin(), sums.end(), [](const auto& s) {
      return s["link"] == "ib";
    })) << "nothing went between nodes";
  }
}

// Several MB of the built-in text and of bytes that are no UTF-8.
void write_large_text(const std::filesystem::path& path) {
  std::ofstream out(path, std::ios::binary);
  std::mt19937 random(7);
  while (out.tellp() < (5 << 20)) {
    out << builtin_text();
    for (int i = 0; i < 1000; ++i) {
      out.put(static_cast<char>(random()));
    }
  }
}

TEST(RunVerb, LearnsALargeTextOfAnyBytes) {
  const TemporaryFolder folder;
  write_large_text(folder / "large.txt");
  const auto builtin = passed(run_program(acceptance + tiny_job));
  const auto large =
      passed(run_program(acceptance + tiny_job + " --text large.txt", "", folder.path()));
  EXPECT_NE(large["losses"], builtin["losses"]);
  std::ofstream(folder / "bad.txt", std::ios::binary) << "\xff\xfe\xc3\x28\x80 \xed\xa0\x80";
  EXPECT_NE(
      passed(run_program(acceptance + tiny_job + " --text bad.txt", "", folder.path()))["losses"],
      large["losses"]);
}

TEST(RunVerb, Large64Ranks) {
  const auto document = passed(
      run_program("run dp/ring --json --ranks 64 --set model.hidden=32 --set train.steps=2"));
  EXPECT_EQ(document["traffic"].size(), 64U);
}

TEST(RunVerb, Large256RanksOfASmallModel) {
  const auto document =
      passed(run_program("run dp/ring --json --ranks 256 --set model.hidden=16 --set model.layers=1"
                         " --set train.batch=256 --set train.steps=1"
                         " --set 'checks.run=[\"gradients\",\"replicas\",\"traffic\"]'"));
  EXPECT_EQ(document["memory"].size(), 256U);
}

TEST(RunVerb, ControlsAreCaughtWhereSomeRanksHaveNoSamples) {
  const auto document = passed(run_program(acceptance + " --ranks 8 --set train.batch=3"));
  EXPECT_EQ(controls_with(document, "pass"), controls);
}

TEST(RunVerb, WhatARankWaitsForASlowerOneIsNotExposedCommunication) {
  const auto document = passed(
      run_program("run dp/ring --json --ranks 3 --set train.batch=8 --set train.steps=2 --set "
                  "'checks.run=[\"exposed\"]' --set checks.peer="));
  EXPECT_EQ(check(document, "exposed.some_is_hidden")["verdict"], "pass");
}

TEST(RunVerb, TheOrderOfAdditionsIsNotClaimedWhereEveryMicrobatchIsReduced) {
  const std::string shards = acceptance +
                             " --ranks 2 --set parallel.microbatches=2"
                             " --set 'checks.run=[\"shards\"]'";
  const auto once = passed(run_program(shards));
  EXPECT_EQ(check(once, "shards_in_order.bits")["verdict"], "pass");
  const auto each = passed(run_program(shards + " --set dp.sync_every_microbatch=true"));
  EXPECT_EQ(check(each, "shards_in_order.bits")["verdict"], "not_applicable");
}

// A check in f64 beside a model in f64 would be the same once more, under the same names.
TEST(RunVerb, NoCheckIsNamedTwice) {
  for (const std::string dtype : {"f32", "f64"}) {
    const auto document = passed(
        run_program(acceptance + tiny_job + " --ranks 3 --log none --set model.dtype=" + dtype));
    std::multiset<std::string> names;
    for (const auto& row : document["checks"]) {
      names.insert(row["name"].get<std::string>());
    }
    for (const auto& name : names) {
      EXPECT_EQ(names.count(name), 1U) << name << " of a model in " << dtype;
    }
    EXPECT_EQ(check(document, "f64.again").is_null(), dtype == "f32");
  }
}

TEST(RunVerb, WhatTheCommandLineChangedIsTold) {
  const auto changed = [](const std::string& flags) {
    return passed(run_program("run dp/ring --json" + tiny_job + flags))["changed"]
        .get<std::vector<std::string>>();
  };
  const auto tiny = changed("");
  EXPECT_EQ(tiny.front(), "model.hidden");
  EXPECT_EQ(changed(" --ranks 8 --seed 1 --all-reduce ring --set train.lr=0.1"), tiny)
      << "what was set to the value that it had is no change";
  auto more = changed(" --ranks 4 --seed 2");
  EXPECT_EQ(more.front(), "ranks");
  EXPECT_EQ(more.back(), "train.seed");
  EXPECT_EQ(more.size(), tiny.size() + 2);
}

TEST(RunVerb, APeerThatDoesNotDifferIsNotComparedWith) {
  const auto naive = passed(run_program("run dp/ring --json --all-reduce naive" + tiny_job));
  EXPECT_EQ(check(naive, "busiest.rank_receives")["verdict"], "not_applicable");
  const auto overlaps = passed(run_program("run dp/no_overlap --json --set dp.overlap=true"));
  EXPECT_EQ(check(overlaps, "exposed.share_of_communication")["verdict"], "not_applicable");
  const auto once = passed(run_program("run dp/accumulation --json --set parallel.microbatches=1"));
  EXPECT_EQ(check(once, "accumulation")["verdict"], "not_applicable");
  const auto more = passed(run_program("run dp/few_tokens --json --set train.batch=96"));
  EXPECT_EQ(check(more, "exposed.share_of_communication")["verdict"], "not_applicable");
}

TEST(RunVerb, OutOfMemoryIsAnAnswerOfItsOwn) {
  const std::string small = "run dp/ring --json --out run --set cluster.capacity='1 KiB'";
  const TemporaryFolder folder;
  const auto failed = run_program(small, "", folder.path());
  EXPECT_EQ(failed.exit_code, exit_out_of_memory);
  EXPECT_EQ(failed.document()["verdict"], "oom");
  EXPECT_TRUE(has(failed.document()["error"], "\"embedding.weight\" (weights) needs"));
  EXPECT_TRUE(has(failed.err, "does not fit in device memory of 1.024 kB"));
  EXPECT_TRUE(has(failed.err, "\nrun folder: ")) << failed.err;
  EXPECT_EQ(failed.document(), nlohmann::json::parse(content(folder / "run/summary.json")));
  EXPECT_EQ(failed.document()["scenario"], "dp/ring");
  EXPECT_EQ(nlohmann::json::parse(content(folder / "run/summary.json"))["verdict"], "oom");
  EXPECT_TRUE(has(content(folder / "run/scenario.toml"), "capacity")) << "what ran is not told";

  const auto expected = passed(run_program(small + " --set checks.expect=oom", "", folder.path()));
  EXPECT_EQ(check(expected, "expect")["measured"], "oom");
  const auto unseen = run_program("run dp/ring --json --set checks.expect=oom");
  EXPECT_EQ(unseen.exit_code, exit_check_failed);
  EXPECT_EQ(unseen.document()["verdict"], "fail");
}

}  // namespace
}  // namespace ringside
