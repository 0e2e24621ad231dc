// Tensor parallelism at true scale: published models on meta memory, executed.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numeric>

#include "models/meta_layer.hpp"
#include "parallel/tensor_seam.hpp"
#include "runtime/errors.hpp"
#include "tests/support/ranks.hpp"

namespace ringside {
namespace {

// Forward and backward of one micro-batch; what each rank sent, by label.
std::vector<std::map<std::string, std::int64_t>> sent_by_label(const std::string& model, int ranks,
                                                               std::size_t tokens, bool sequence) {
  JobOptions job = small_job();
  job.memory = Backing::meta;
  job.log = LogLevel::summary;
  const PublishedModel published = published_model(model);
  const auto result = run_job_tested(ranks, job, [&](Rank& rank) {
    const auto seam = make_tensor_seam(rank.world(), rank.memory(), {.sequence = sequence});
    const auto meta = make_meta_model({rank.memory(), rank.clock()}, published, DType::bf16,
                                      {rank.id(), ranks}, seam);
    meta->forward_backward(meta_batch(tokens));
    return std::string();
  });
  std::vector<std::map<std::string, std::int64_t>> all;
  for (const auto& rank : result.ranks) {
    auto& sums = all.emplace_back();
    for (const auto& row : rank.report.sums) {
      sums[std::string(std::string_view(row.label))] += row.sent_bytes;
    }
  }
  return all;
}

std::int64_t of_layers(const std::map<std::string, std::int64_t>& sums) {
  return std::accumulate(sums.begin(), sums.end(), std::int64_t{0}, [](auto sum, const auto& row) {
    return sum + (row.first.starts_with("layers.") ? row.second : 0);
  });
}

TEST(TensorMeta, TheAnchorSends18790481920BytesInItsLayersOnEveryRank) {
  constexpr std::int64_t pass = 7LL * 4096 * 5120 * 2 / 8;  // (t-1)/t of a message
  for (const bool sequence : {false, true}) {
    for (const auto& sums : sent_by_label("qwen3.8-27b", 8, 4096, sequence)) {
      EXPECT_EQ(of_layers(sums), 18'790'481'920) << sequence;
      EXPECT_EQ(sums.at("layers.3.mlp"), 4 * pass) << sequence;
      EXPECT_EQ(sums.at("layers.3.attention"), 4 * pass) << sequence;
      // Beside the chapter's figure: one all-reduce of the embedding, one of the head.
      EXPECT_EQ(sums.at("embed"), 2 * pass) << sequence;
      EXPECT_EQ(sums.at("head"), 2 * pass) << sequence;
      EXPECT_EQ(sums.at("loss"), 2 * 7 * 4096 * 3 * 8 / 8) << sequence;
      EXPECT_EQ(sums.count("mtp") + sums.count("vision"), 0U);
    }
  }
}

// The control: other ranks and tokens send something else.
TEST(TensorMeta, FourRanksSendTheirOwnShare) {
  EXPECT_EQ(of_layers(sent_by_label("qwen3.8-27b", 4, 4096, false).front()),
            4LL * 64 * 2 * 3 * 4096 * 5120 * 2 / 4);
}

// Elements of all ranks, each copy counted as the part of one that it is.
double elements_of(const std::string& name, int ranks) {
  const PublishedModel model = published_model(name);
  double sum = 0;
  for (int r = 0; r < ranks; ++r) {
    DeviceMemory memory(std::size_t{1} << 20, Backing::meta);
    ComputeClock clock;
    const auto meta = make_meta_model({memory, clock}, model, DType::bf16, {r, ranks});
    for (const auto& layer : meta->layers()) {
      for (const Parameter* p : layer) {
        sum += static_cast<double>(p->value.count()) / p->layout.copies;
      }
    }
  }
  return sum;
}

TEST(TensorMeta, ThePartsOfTheRanksAreTheModel) {
  for (const int ranks : {1, 2, 4, 8}) {
    EXPECT_EQ(elements_of("qwen3.8-27b", ranks), 27'781'427'952.0) << ranks;
  }
}

TEST(TensorMeta, KvHeadsOfTheAnchorAreCopiedOnTwoRanksEach) {
  const PublishedModel model = published_model("qwen3.8-27b");
  for (const auto& layer : model.layers) {
    for (const auto& tensor : layer.tensors) {
      if (layer.name == "layers.3.attention" && tensor.name.ends_with("k_proj.weight")) {
        const auto share = share_of(tensor, {.rank = 5, .ranks = 8}, layer.kind);
        EXPECT_EQ(share.shape, (std::vector<std::size_t>{256, 5120}));
        EXPECT_EQ(share.layout.copies, 2);
        EXPECT_EQ(share.layout.first, 512U);  // head 2
        EXPECT_EQ(share.products, 256U * 5120);
      }
    }
  }
}

TEST(TensorMeta, RefusesRanksThatDoNotDivideTheHeads) {
  const PublishedModel model = published_model("qwen3.8-27b");
  DeviceMemory memory(std::size_t{1} << 20, Backing::meta);
  ComputeClock clock;
  try {
    make_meta_model({memory, clock}, model, DType::bf16, {.rank = 0, .ranks = 5});
    FAIL();
  } catch (const BadUse& error) {
    EXPECT_NE(std::string(error.what()).find("16 parts, which 5 tensor-parallel ranks"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace ringside
