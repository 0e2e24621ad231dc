// Gradients under ZeRO: each bucket's is reduce-scattered, and a rank ends with the global sum of
// its shard.
//
// Whole gradients are kept (ZeRO-1), or exist from the backward of the first layer that adds to the
// bucket until it is reduced (ZeRO-2 and 3).
#pragma once

#include <string>
#include <vector>

#include "parallel/buckets.hpp"
#include "parallel/fault.hpp"
#include "runtime/comm.hpp"
#include "runtime/work.hpp"

namespace ringside {

class ShardedGradients {
 public:
  struct Options {
    bool keep_whole = true;  // ZeRO-1; not: ZeRO-2 and 3
    std::string reduce_scatter = "ring";
    Fault fault = Fault::none;
  };

  // The gradients of `layers` move into buckets (Category::gradients), which outlive this; where
  // shards are kept, they are empty while their bucket is not open.
  ShardedGradients(Comm& group, DeviceMemory& memory,
                   const std::vector<std::vector<Parameter*>>& layers,
                   const std::vector<Bucket>& buckets, Options options);

  // All are zero.
  void begin_step();

  // Layers may add to the bucket's gradients (Category::buffers where shards are kept).
  void open(std::size_t bucket);
  // This rank has added all that it adds: launches the reduce-scatter.
  void reduce(std::size_t bucket);
  // Waits for it, where one was launched: the sum is in the shard, or has been added to it.
  void settle(std::size_t bucket);

  // This rank's chunk of the bucket, padding included.
  const Tensor& shard(std::size_t bucket) const { return shards_[bucket]; }

 private:
  void bind(std::size_t bucket) const;
  void take(std::size_t bucket);

  Comm& group_;
  DeviceMemory& memory_;
  const std::vector<std::vector<Parameter*>>& layers_;
  const std::vector<Bucket>& buckets_;
  Options options_;
  DType dtype_;
  std::vector<std::vector<std::vector<std::size_t>>> shapes_;  // [bucket][tensor]
  std::vector<Tensor> whole_;                                  // empty: not open
  std::vector<Tensor> shards_;
  std::vector<Work> works_;
  std::vector<bool> reducing_;
};

}  // namespace ringside
