#include "parallel/shard_map.hpp"

#include <algorithm>

namespace ringside {

std::size_t shard_size(const Bucket& bucket, int ranks) {
  return bucket.padded / static_cast<std::size_t>(ranks);
}

std::size_t real_elements(const Bucket& bucket, int ranks, int rank) {
  const std::size_t size = shard_size(bucket, ranks);
  const std::size_t first = std::min(bucket.count, size * static_cast<std::size_t>(rank));
  return std::min(bucket.count - first, size);
}

std::vector<ShardPiece> pieces_of(const std::vector<Bucket>& buckets, int ranks, int rank) {
  std::vector<ShardPiece> pieces;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    const Bucket& bucket = buckets[b];
    const std::size_t size = shard_size(bucket, ranks);
    const std::size_t begin = size * static_cast<std::size_t>(rank);
    for (std::size_t t = 0; t < bucket.tensors.size(); ++t) {
      const TensorInBucket& in = bucket.tensors[t];
      const std::size_t end_of_tensor =
          t + 1 < bucket.tensors.size() ? bucket.tensors[t + 1].first : bucket.count;
      const std::size_t from = std::max(begin, in.first);
      const std::size_t to = std::min(begin + size, end_of_tensor);
      if (from < to) {
        pieces.push_back({.bucket = b,
                          .layer = in.layer,
                          .tensor = in.tensor,
                          .first = from - in.first,
                          .at = from - begin,
                          .count = to - from});
      }
    }
  }
  return pieces;
}

}  // namespace ringside
