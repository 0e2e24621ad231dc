// Which buckets backward has filled: a bucket is complete when it is through with every layer that
// has a tensor there.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "parallel/buckets.hpp"

namespace ringside {

class FilledBuckets {
 public:
  explicit FilledBuckets(const std::vector<Bucket>& buckets);

  // Backward is through with a layer. Returns the buckets that this completes, in their order; they
  // begin anew.
  std::vector<std::size_t> layer_done(std::size_t layer);

  // All begin anew.
  void begin() { missing_ = layers_; }

 private:
  std::vector<std::set<std::size_t>> layers_;   // by bucket
  std::vector<std::set<std::size_t>> missing_;  // of these
};

}  // namespace ringside
