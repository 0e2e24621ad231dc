#include "scenarios/overlap_formula.hpp"

#include <algorithm>
#include <cmath>

#include "scenarios/duration_formula.hpp"
#include "scenarios/model_settings.hpp"
#include "scenarios/parallel_options.hpp"
#include "scenarios/training_job.hpp"

namespace ringside {

namespace {

std::int64_t products_of(const PublishedLayer& layer) {
  std::int64_t sum = 0;
  for (const PublishedTensor& tensor : layer.tensors) {
    sum += static_cast<std::int64_t>(tensor.products);
  }
  return sum;
}

// Buckets on a link, one after the other.
class BucketsOnLink {
 public:
  BucketsOnLink(const Settings& settings, const Link& link)
      : settings_(settings), link_(link), buckets_(buckets_of(settings)) {}

  // Those of the layer, which backward has filled at `ready`.
  void leave(std::size_t layer, Time ready) {
    for (const Bucket& bucket : buckets_) {
      if (bucket.last_layer() == layer) {
        free_ = std::max(free_, ready) + ring_time(settings_, bucket, link_);
      }
    }
  }

  Time free() const { return free_; }

  Time all() const {
    Time sum{0};
    for (const Bucket& bucket : buckets_) {
      sum += ring_time(settings_, bucket, link_);
    }
    return sum;
  }

  Time last() const { return ring_time(settings_, buckets_.back(), link_); }

 private:
  const Settings& settings_;
  const Link& link_;
  std::vector<Bucket> buckets_;
  Time free_{0};
};

}  // namespace

OverlapFormula overlap_formula(const Settings& s, const Link& link) {
  const PublishedModel model = published_model_of(s);
  const auto samples =
      samples_of(static_cast<std::uint64_t>(s.train.batch), {0, data_parallel_ranks(s), 1}, 0)
          .count;
  const std::int64_t tokens = static_cast<std::int64_t>(samples) * s.model.sequence;
  BucketsOnLink buckets(s, link);
  OverlapFormula formula{.all_reduce = buckets.all(), .last_bucket = buckets.last()};
  for (std::size_t i = model.layers.size(); i-- > 0;) {
    // Charged alike: forward, the gradient of the input, that of the weights.
    const Time charge =
        duration_by_formula(2 * tokens * products_of(model.layers[i]), s.cluster.flops);
    formula.forward += charge;
    formula.backward += 2 * charge;
    buckets.leave(i, formula.backward);
  }
  formula.exposed = s.dp.overlap ? buckets.free() - formula.backward : formula.all_reduce;
  return formula;
}

std::optional<Link> only_link(const Settings& s) {
  const Cluster cluster = cluster_of(s);
  if (cluster.nodes(s.ranks) == 1) {
    return cluster.nvlink;
  }
  return cluster.gpus_per_node == 1 ? std::optional(cluster.ib) : std::nullopt;
}

Time ring_time(const Settings& s, const Bucket& bucket, const Link& link) {
  const auto bytes = static_cast<std::int64_t>(bucket.padded * size_of(element_type(s)));
  return 2 * (s.ranks - 1) * (link.latency + duration_by_formula(bytes / s.ranks, link.bandwidth));
}

std::int64_t products_of_token(const Settings& s) {
  std::int64_t sum = 0;
  for (const PublishedLayer& layer : published_model_of(s).layers) {
    sum += products_of(layer);
  }
  return sum;
}

std::int64_t tokens_to_hide(const Settings& s, Time all_reduce) {
  const double of_token = 4 * static_cast<double>(products_of_token(s)) * 1e12 /
                          static_cast<double>(s.cluster.flops.per_second);
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(all_reduce.count()) / of_token));
}

}  // namespace ringside
