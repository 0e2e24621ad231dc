// --set, --ranks, and what must agree.
#include "scenarios/overrides.hpp"

#include <gtest/gtest.h>

#include "tests/scenarios/refusal.hpp"

namespace ringside {
namespace {

Settings with(const std::vector<std::string>& set, std::optional<std::string> ranks = {},
              Settings settings = {}) {
  Overrides overrides{.set = {}, .ranks = std::move(ranks)};
  for (const auto& text : set) {
    overrides.set.push_back(parse_set(text));
  }
  apply_overrides(settings, overrides);
  return settings;
}

struct Shape {
  int ranks, nodes, gpus_per_node, dp;
  bool operator==(const Shape&) const = default;
};

Shape shape(const Settings& s) {
  return {s.ranks, s.cluster.nodes, s.cluster.gpus_per_node, s.parallel.dp};
}

TEST(Overrides, LaterWinsAndSpacesDoNotMatter) {
  EXPECT_EQ(with({"train.steps=4", " train.steps = 5 "}).train.steps, 5);
  EXPECT_EQ(with({"dp.bucket=\"1 MiB\""}).dp.bucket, Bytes{1 << 20});
  EXPECT_EQ(with({"lesson.en=a=b"}).lesson.en, "a=b");
}

TEST(Overrides, TheFlagIsNamed) {
  EXPECT_TRUE(refusal_of([] {
                with({"train.steps=0"});
              }).starts_with("--set train.steps=0: must be an integer from 1"));
  EXPECT_TRUE(has(refusal_of([] { with({"train.stepz=3"}); }), "did you mean train.steps?"));
  EXPECT_TRUE(has(refusal_of([] { with({"train.steps"}); }), "must be key=value"));
  EXPECT_TRUE(has(refusal_of([] { with({"=3"}); }), "must be key=value"));
  EXPECT_TRUE(has(refusal_of([] { with({""}); }), "must be key=value"));
  EXPECT_TRUE(has(refusal_of([] { with({"data.text=/no/such/file"}); }), "there is no such file"));
  EXPECT_TRUE(has(refusal_of([] { with({"data.text=/tmp"}); }), "it is a folder"));
}

TEST(Overrides, RanksAreAllGpusOfTheClusterUnlessSaid) {
  EXPECT_EQ(shape(with({})), (Shape{8, 1, 8, 8}));
  EXPECT_EQ(shape(with({"cluster.nodes=2", "cluster.gpus_per_node=4"})), (Shape{8, 2, 4, 8}));
  EXPECT_EQ(shape(with({"cluster.ranks=5"})), (Shape{5, 1, 8, 5}));
}

TEST(Overrides, RanksFlagIsOneNode) {
  EXPECT_EQ(shape(with({}, "5")), (Shape{5, 1, 5, 5}));
  EXPECT_EQ(shape(with({}, "1")), (Shape{1, 1, 1, 1}));
  Settings two_nodes;
  two_nodes.cluster = {.nodes = 2, .gpus_per_node = 4, .capacity = {}, .flops = {}};
  EXPECT_EQ(shape(with({}, "16", two_nodes)), (Shape{16, 1, 16, 16}));
  EXPECT_EQ(shape(with({"cluster.nodes=1"}, "16")), (Shape{16, 1, 16, 16}));
}

TEST(Overrides, RanksFlagWithGivenNodesLeavesTheLastPartlyEmpty) {
  const auto settings = with({"cluster.gpus_per_node=3"}, "8");
  EXPECT_EQ(shape(settings), (Shape{8, 3, 3, 8}));
  const auto cluster = cluster_of(settings);
  EXPECT_EQ(cluster.nodes(8), 3);
  EXPECT_EQ(cluster.node_of(7), 2);
  EXPECT_EQ(shape(with({"cluster.gpus_per_node=8"}, "5")), (Shape{5, 1, 8, 5}));
  EXPECT_EQ(shape(with({"cluster.nodes=2", "cluster.gpus_per_node=4"}, "7")), (Shape{7, 2, 4, 7}));
}

TEST(Overrides, ADegreeOfTheFileFollowsTheClusterButNotAGivenOne) {
  Settings replayed = with({});
  EXPECT_EQ(shape(with({}, "4", replayed)), (Shape{4, 1, 4, 4}));
  EXPECT_EQ(shape(with({"cluster.gpus_per_node=4"}, {}, replayed)), (Shape{4, 1, 4, 4}));
  EXPECT_EQ(shape(with({"train.steps=1"}, {}, replayed)), (Shape{8, 1, 8, 8}));
  EXPECT_TRUE(has(refusal_of([&] { with({"parallel.dp=8"}, "4", replayed); }),
                  "parallel.dp = 8, but 4 ranks leave 4"));
}

TEST(Overrides, RefusesRanksThatCannotBe) {
  for (const auto* ranks : {"0", "-1", "eight", "65537", "1.5", "", "99999999999999999999"}) {
    const auto text = refusal_of([&] { with({}, ranks); });
    EXPECT_EQ(text, std::string("--ranks ") + ranks + ": must be an integer from 1 to 65536");
  }
}

TEST(Overrides, RefusesNumbersThatDisagree) {
  const auto refused = [](const std::vector<std::string>& set, std::optional<std::string> ranks,
                          const char* part) {
    const auto text = refusal_of([&] { with(set, ranks); });
    EXPECT_TRUE(has(text, part)) << text;
  };
  refused({"parallel.dp=4"}, {}, "run with --ranks 4");
  refused({"cluster.nodes=2"}, "8", "add --set cluster.gpus_per_node=4");
  refused({"cluster.nodes=2", "cluster.gpus_per_node=3"}, "8", "set cluster.nodes = 3, or run 6");
  refused({"cluster.ranks=9"}, {}, "9 ranks on nodes of cluster.gpus_per_node = 8 fill 2 nodes");
  refused({"cluster.nodes=2", "cluster.ranks=4"}, {}, "fill 1 node, but cluster.nodes = 2");
  refused({"cluster.nodes=65536", "cluster.gpus_per_node=65536"}, {}, "4294967296 ranks");
  refused({"cluster.ranks=4"}, "8", "give one of them");
  refused({"train.batch=4", "parallel.microbatches=8"}, {}, "at most 4 microbatches");
  refused({"model.hidden=65536", "model.layers=9"}, {}, "a model of 34385498368 parameters");
  refused(
      {"model.hidden=65536", "model.layers=1024", "model.context=1024", "model.embedding=65536"},
      {}, "is too large");
}

}  // namespace
}  // namespace ringside
