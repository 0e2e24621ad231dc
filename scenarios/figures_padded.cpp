// What padding adds: the gradients all-reduced in the buckets of data parallelism.
#include <spdlog/fmt/fmt.h>

#include <numeric>

#include "collectives/all_reduce.hpp"
#include "parallel/buckets.hpp"
#include "runtime/launch.hpp"
#include "runtime/tensor.hpp"
#include "scenarios/figures_executed.hpp"

namespace ringside {

namespace {

std::vector<Bucket> buckets_over(const FigureInputs& inputs, int ranks) {
  constexpr Bytes layer{4'000'000'000};  // a bucket for each layer
  std::vector<std::vector<std::size_t>> counts;
  for (const PublishedLayer& described : inputs.anchor.layers) {
    auto& row = counts.emplace_back();
    for (const PublishedTensor& tensor : described.tensors) {
      row.push_back(tensor.count());
    }
  }
  return cut_buckets(counts, {.limit = layer, .by = BucketBy::layer}, size_of(DType::bf16), ranks);
}

struct Seen {
  std::int64_t sent = 0;
  std::int64_t received = 0;
};

Seen all_reduce_buckets(Rank& rank, const std::vector<Bucket>& buckets,
                        std::string_view algorithm) {
  for (const Bucket& bucket : buckets) {
    const Tensor gradients(rank.memory(), DType::bf16, {bucket.padded}, Category::gradients,
                           bucket.label);
    all_reduce(rank.world(), gradients.buffer(), ReduceOp::sum, {algorithm, bucket.label});
  }
  Seen seen;
  for (const TrafficSum& sum : rank.traffic().sums()) {
    if (std::string_view(sum.label).starts_with("grad.bucket.")) {
      seen.sent += sum.sent_bytes;
      seen.received += sum.received_bytes;
    }
  }
  return seen;
}

}  // namespace

PaddedTraffic in_padded_buckets(const FigureInputs& inputs, int ranks, std::string_view algorithm,
                                std::int64_t without) {
  const auto buckets = buckets_over(inputs, ranks);
  const auto seen =
      run_ranks(ranks, {.cluster = inputs.cluster, .memory = Backing::meta},
                [&](Rank& rank) { return all_reduce_buckets(rank, buckets, algorithm); });
  PaddedTraffic padded{.without = without};
  for (const Bucket& bucket : buckets) {
    padded.elements += static_cast<std::int64_t>(bucket.padded - bucket.count);
  }
  constexpr std::int64_t element = 2;  // bytes
  if (algorithm == "naive") {
    padded.over = fmt::format("rank 0 of {}", ranks);
    padded.adds = element * (ranks - 1) * padded.elements;
    padded.counted = seen.front().received;
    return padded;
  }
  padded.over = fmt::format("all {} ranks", ranks);
  padded.adds = element * 2 * (ranks - 1) * padded.elements;
  for (const Seen& rank : seen) {
    padded.counted += rank.sent;
  }
  return padded;
}

}  // namespace ringside
