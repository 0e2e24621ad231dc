#include "parallel/filled_buckets.hpp"

namespace ringside {

FilledBuckets::FilledBuckets(const std::vector<Bucket>& buckets) {
  for (const Bucket& bucket : buckets) {
    auto& layers = layers_.emplace_back();
    for (const TensorInBucket& in : bucket.tensors) {
      layers.insert(in.layer);
    }
  }
  begin();
}

std::vector<std::size_t> FilledBuckets::layer_done(std::size_t layer) {
  std::vector<std::size_t> complete;
  for (std::size_t b = 0; b < layers_.size(); ++b) {
    if (missing_[b].erase(layer) > 0 && missing_[b].empty()) {
      complete.push_back(b);
      missing_[b] = layers_[b];
    }
  }
  return complete;
}

}  // namespace ringside
