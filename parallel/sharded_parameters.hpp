// The values of parameters under ZeRO: whole on every rank, or a shard of each bucket here and the
// whole only while somebody computes with it.
#pragma once

#include <string>
#include <vector>

#include "parallel/buckets.hpp"
#include "parallel/fault.hpp"
#include "runtime/comm.hpp"
#include "runtime/work.hpp"

namespace ringside {

class ShardedParameters {
 public:
  struct Options {
    bool keep_whole = true;  // ZeRO-1 and 2; not: ZeRO-3
    std::string all_gather = "ring";
    Fault fault = Fault::none;
  };

  // Moves the values of `layers` into buckets (Category::weights), which outlive this. Where shards
  // are kept, the parameters are empty from here on, but for those that are gathered.
  ShardedParameters(Comm& group, DeviceMemory& memory,
                    const std::vector<std::vector<Parameter*>>& layers,
                    const std::vector<Bucket>& buckets, Options options);

  // This rank's chunk of the bucket, padding included.
  Tensor shard(std::size_t bucket) const;

  // One user more of the whole bucket (Category::buffers where shards are kept); the first one
  // launches its all-gather.
  void acquire(std::size_t bucket);
  // Its parameters may be touched from here on.
  void wait(std::size_t bucket);
  // One user less; after the last one the whole is freed.
  void release(std::size_t bucket);

  // Where the whole is kept: every rank has updated its shards, and gets the others'.
  void gather_updates();

 private:
  struct Gathered {
    Tensor whole;
    Work work;
    int users = 0;
  };

  void bind(std::size_t bucket) const;
  void launch(std::size_t bucket);

  Comm& group_;
  DeviceMemory& memory_;
  const std::vector<std::vector<Parameter*>>& layers_;
  const std::vector<Bucket>& buckets_;
  Options options_;
  std::vector<std::vector<std::vector<std::size_t>>> shapes_;  // [bucket][tensor]
  std::vector<Tensor> shards_;                                 // where they are all that is kept
  std::vector<Gathered> gathered_;                             // by bucket
};

}  // namespace ringside
