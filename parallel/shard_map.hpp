// Which part of which tensor is in a rank's shards: chunk r of every bucket is rank r's shard, and
// a shard may begin and end anywhere in a tensor (ZeRO, SC 2020, section 5).
#pragma once

#include <cstddef>
#include <vector>

#include "parallel/buckets.hpp"

namespace ringside {

// Elements [first, first + count) of a tensor, which stand in the shard from `at`. Padding belongs
// to no piece.
struct ShardPiece {
  std::size_t bucket = 0;
  std::size_t layer = 0;
  std::size_t tensor = 0;  // index within the layer
  std::size_t first = 0;
  std::size_t at = 0;
  std::size_t count = 0;
};

// Elements of a shard, the padding included: the same on every rank.
std::size_t shard_size(const Bucket& bucket, int ranks);

// Elements of the rank's shard that are no padding.
std::size_t real_elements(const Bucket& bucket, int ranks, int rank);

// The pieces in the rank's shards, bucket after bucket.
std::vector<ShardPiece> pieces_of(const std::vector<Bucket>& buckets, int ranks, int rank);

}  // namespace ringside
