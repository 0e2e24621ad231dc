// Products that once had a wrong figure, an unclear end or a check that did not mean them.
#include <gtest/gtest.h>

#include "scenarios/exit_codes.hpp"
#include "tests/support/program.hpp"

namespace ringside {
namespace {

class SoundProduct : public testing::TestWithParam<const char*> {};

TEST_P(SoundProduct, Passes) {
  const Ended ended = run_program(std::string("run --json ") + GetParam());
  EXPECT_EQ(ended.exit_code, exit_ok) << ended.err << ended.out;
}

INSTANTIATE_TEST_SUITE_P(
    Products, SoundProduct,
    testing::Values(
        // one rank has all experts, in another order
        "ep/dispatch --set parallel.ep=1 --set parallel.placement=random",
        // the bucket limit is of the experts' own type, when the dense parameters are away
        "ep/dispatch --set parallel.ep=1 --set parallel.zero=3 --set dp.bucket='3000 B'"
        " --set model.dtype=f64 --set 'checks.run=[\"traffic\", \"model_state\"]'",
        // a device of dualpipe takes half of the micro-batches through each stage
        "mesh/8 --set parallel.schedule=dualpipe --set parallel.zero=2"
        " --set 'checks.run=[\"traffic\"]'",
        // a tied table whose both ends are on one device is gathered once for both
        "mesh/8 --set parallel.schedule=dualpipev --set parallel.zero=3 --set model.tied=true"
        " --set 'checks.run=[\"gradients\", \"traffic\"]'",
        // a bucket over layers ends at a stage, and a table tied over stages is one alone
        "mesh/8 --set model.tied=true --set dp.bucket_by=size --set parallel.zero=0"
        " --set 'checks.run=[\"gradients\", \"replicas\", \"traffic\", \"model_state\"]'",
        "mesh/8 --set model.tied=true --set dp.bucket_by=size --set parallel.zero=2"
        " --set parallel.schedule=interleaved --set parallel.chunks=2 --set parallel.pp=2"
        " --set 'checks.run=[\"gradients\", \"traffic\", \"model_state\"]'",
        "mesh/8 --set model.tied=true --set dp.bucket_by=size --set parallel.schedule=dualpipe"
        " --set 'checks.run=[\"gradients\", \"traffic\", \"zero_bits\"]'",
        // nor does it hold experts and what is no expert's
        "mesh/experts --set dp.bucket_by=size"
        " --set 'checks.run=[\"gradients\", \"traffic\", \"zero_bits\", \"model_state\"]'",
        // axes in other orders: groups, shards, experts and stages lie elsewhere
        "mesh/8 --set parallel.order=pp-dp-tp-cp --set 'checks.run=[\"gradients\", \"replicas\","
        " \"traffic\", \"zero_bits\", \"model_state\", \"pipeline\"]'",
        "mesh/8 --set parallel.order=dp-tp-cp-pp --set parallel.zero=3"
        " --set cluster.nodes=2 --set cluster.gpus_per_node=4"
        " --set 'checks.run=[\"gradients\", \"traffic\"]'",
        "mesh/experts --set parallel.order=dp-cp-pp-tp"
        " --set 'checks.run=[\"gradients\", \"replicas\", \"traffic\", \"zero_bits\"]'",
        "ep/dispatch --ranks 8 --set parallel.tp=2 --set parallel.ep=2 --set parallel.cp=2"
        " --set parallel.order=dp-tp-cp-pp --set parallel.dispatch=by_node"
        " --set cluster.gpus_per_node=4 --set cluster.nodes=2"
        " --set 'checks.run=[\"gradients\", \"traffic\"]'",
        "tp/kv_replication --set parallel.order=dp-cp-pp-tp --set parallel.tp=4 --ranks 8"
        " --set 'checks.run=[\"gradients\", \"replicas\", \"traffic\"]'",
        // checks that do not apply say so
        "mesh/8 --set parallel.zero=2 --set 'checks.run=[\"zero_bits\", \"shards\"]'",
        "mesh/experts --set 'checks.run=[\"shards\"]'", "cp/zigzag --set 'checks.run=[\"shards\"]'",
        "pp/1f1b --set cluster.nodes=2 --set cluster.gpus_per_node=4"
        " --set 'checks.run=[\"pipeline\"]'",
        "pitfalls/learning_rate --set train.momentum=0.9 --set 'checks.run=[\"learning_rate\"]'",
        "mesh/8 --set train.batch=4 --set 'checks.run=[\"controls\"]'",
        "zero/stage1 --set train.steps=1 --set 'checks.run=[\"controls\"]'"));

struct Refused {
  const char* words;
  const char* why;
};

class RefusedProduct : public testing::TestWithParam<Refused> {};

TEST_P(RefusedProduct, SaysWhy) {
  const Ended ended = run_program(std::string("run ") + GetParam().words);
  EXPECT_EQ(ended.exit_code, exit_bad_use);
  EXPECT_NE(ended.err.find(GetParam().why), std::string::npos) << ended.err;
}

INSTANTIATE_TEST_SUITE_P(
    Products, RefusedProduct,
    testing::Values(
        Refused{"mesh/8 --set parallel.cp=65536 --set parallel.pp=65536", "at most 65536 can run"},
        Refused{"mesh/8 --set parallel.order=tp-pp-dp",
                "parallel.order: an order names tp, cp, pp and dp once each, from inner to outer, "
                "but in \"tp-pp-dp\" cp is missing: the nearest is tp-cp-pp-dp"},
        Refused{"mesh/8 --ranks 6", "does not divide 6 ranks"},
        Refused{"ep/dispatch --ranks 8 --set parallel.tp=2 --set parallel.ep=2"
                " --set parallel.dispatch=by_node --set cluster.gpus_per_node=3",
                "which hold the same experts"},
        Refused{"pitfalls/batch_norm --set parallel.microbatches=2", "set it to 1"},
        Refused{"ep/dispatch --set model.router_top_groups=5", "may be 0 (no limit) to 1"},
        Refused{"dp/ring --set parallel.schedule=foo", "no schedule is called"}));

}  // namespace
}  // namespace ringside
