// Data parallelism: every rank computes the gradient of its own part of the batch, and the sum over
// the ranks is all-reduced in buckets, as backward produces them.
//
// Gradients are those of the token sum; the division by the global token count comes once, after
// the reduction. (PyTorch DDP, VLDB 2020.)
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "collectives/all_reduce.hpp"
#include "models/parameter.hpp"
#include "parallel/buckets.hpp"
#include "parallel/filled_buckets.hpp"
#include "parallel/gradient_reduction.hpp"
#include "runtime/comm.hpp"
#include "runtime/work.hpp"

namespace ringside {

struct DataParallelOptions {
  BucketRules buckets{};
  bool overlap = true;  // launch a bucket when backward has filled it; otherwise all at the end
  bool sync_every_microbatch = false;  // reduce each micro-batch; otherwise only the last (no_sync)
  std::string all_reduce = "ring";
  const AllReduce* planted = nullptr;  // instead of all_reduce: one that is in no table
  std::string broadcast = "linear";
  // Called before the gradients of a layer are reduced: others may have to complete them first.
  std::function<void(std::size_t layer)> complete{};
  ParameterFilter meant{};  // which of the parameters are reduced here
  Fault fault = Fault::none;
};

class DataParallel : public GradientReduction, private LayerHooks {
 public:
  // `layers`: the parameters by layer in forward order. The gradients of those that are meant and
  // learn move into the buckets; who freezes or unfreezes one makes another DataParallel.
  DataParallel(Comm& group, DeviceMemory& memory, std::vector<std::vector<Parameter*>> layers,
               DataParallelOptions options);

  // All ranks start from rank 0's weights.
  void broadcast_weights();

  void begin_step() override;

  // Buckets leave as backward fills them, in a micro-batch after which the gradients are reduced.
  LayerHooks& begin_microbatch(int microbatch, int microbatches) override;
  void end_microbatch() override;

  // Whether the gradients are reduced after this micro-batch.
  bool reduces(int microbatch, int microbatches) const {
    return options_.sync_every_microbatch || microbatch + 1 == microbatches;
  }

  // Backward has completed this layer's gradients, for the last time before they are reduced.
  void layer_done(std::size_t layer);

  // Launches what has not been launched and waits for all.
  void finish();

  void end_step() override;

  std::int64_t sum(std::int64_t value, std::string_view label) override;
  double sum(double value, std::string_view label) override;

  const std::vector<Bucket>& buckets() const { return buckets_; }

  Fault fault() const override { return options_.fault; }

 private:
  void after_backward(std::size_t layer) override { layer_done(layer); }

  void expect_all();
  void launch(std::size_t bucket);

  Choice choice(std::string_view label) const { return {options_.all_reduce, label}; }

  Comm& group_;
  std::vector<std::vector<Parameter*>> layers_;
  DataParallelOptions options_;
  std::vector<Bucket> buckets_;
  std::vector<Tensor> storage_;  // the gradients, a tensor for each bucket, padding included
  std::vector<Tensor> sums_;     // of the micro-batches reduced so far, when each is
  FilledBuckets filled_;
  std::vector<bool> ready_;  // by bucket: backward has filled it
  std::size_t next_ = 0;     // bucket to launch
  std::vector<Work> works_;
  bool reducing_ = false;  // this micro-batch
  LayerHooks none_;
};

}  // namespace ringside
