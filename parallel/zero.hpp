// ZeRO: data parallelism that keeps each piece of model state once (Rajbhandari et al., SC 2020,
// sections 5 and 7). Stage 1 cuts the optimizer's state, 2 the gradients too, 3 the parameters too.
//
// Buckets are those of DataParallel, and chunk r of each is rank r's shard, so with the same
// algorithm and buckets the bits are the same. Between the micro-batches of a step, stage 1 adds
// gradients up whole and reduces them once, as no_sync does; stages 2 and 3 reduce each
// micro-batch's and add up the shards; stage 3 gathers the parameters anew for each.
//
// Stage 3 gathers the buckets of a layer, together, before its forward and again before its
// backward, and frees them after; with prefetch those of the next layer are launched before this
// layer computes. In stages 2 and 3 a bucket's whole gradient lives from the backward of the first
// layer that adds to it until its reduce-scatter has ended, which is waited for two layers later.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "models/model.hpp"
#include "parallel/filled_buckets.hpp"
#include "parallel/gradient_reduction.hpp"
#include "parallel/shard_map.hpp"
#include "parallel/sharded_gradients.hpp"
#include "parallel/sharded_parameters.hpp"

namespace ringside {

struct ZeroOptions {
  int stage = 1;          // 1, 2 or 3
  BucketRules buckets{};  // of stage 3, which gathers a layer's together, by layer in any case
  bool overlap = true;    // reduce a bucket when backward has filled it; otherwise the stage 1
                          // reduces at the end, 2 and 3 wait for each
  bool prefetch = true;   // of stage 3
  std::string reduce_scatter = "ring";
  std::string all_gather = "ring";
  std::string all_reduce = "ring";  // of single numbers
  std::string broadcast = "linear";
  // Of a model that is cut over other ranks too, whose parts this cuts further: none for a whole
  // one. Called before the gradients of a layer are reduced, which others may have to complete.
  std::function<void(std::size_t layer)> complete{};
  // Whether the squares of a part are this rank's to add to the norm.
  ParameterFilter counts{};
  // A number summed over the ranks that share the model.
  std::function<double(double squares)> add_parts{};
  ParameterFilter meant{};  // which of the parameters are cut here
  Fault fault = Fault::none;
};

class Zero : public GradientReduction, private LayerHooks {
 public:
  // All ranks take rank 0's weights. The meant parameters of the model, which outlives this, move
  // into buckets and shards; until then each rank has them whole. Frozen ones stay whole, in no
  // bucket.
  // Throws BadUse for another stage.
  Zero(Comm& group, DeviceMemory& memory, Model& model, ZeroOptions options);
  Zero(const Zero&) = delete;
  Zero& operator=(const Zero&) = delete;

  // What this rank updates: the pieces of tensors in its shards, padding left out. An optimizer
  // that works element by element has the bits of one that has all.
  std::vector<Parameter*> parameters();

  // Of the same order.
  const std::vector<ShardPiece>& pieces() const { return pieces_; }

  // Of all ranks' gradients: squares added in f64 over the pieces, then over the ranks, then over
  // those that share the model, and the root rounded once. The same on every rank; 8 bytes are
  // all-reduced ("norm").
  double gradient_norm();

  // Of the gradients of the pieces here that `counts` names (none: all), added in f64.
  double sum_of_squares(const ParameterFilter& counts);

  // After the optimizer's step: all ranks have the new parameters (stages 1 and 2).
  void end_update() { values_->gather_updates(); }

  void begin_step() override;
  LayerHooks& begin_microbatch(int microbatch, int microbatches) override;
  void end_microbatch() override;

  void end_step() override {}

  std::int64_t sum(std::int64_t value, std::string_view label) override;
  double sum(double value, std::string_view label) override;

  Fault fault() const override { return options_.fault; }

  const std::vector<Bucket>& buckets() const { return buckets_; }

 private:
  void before_forward(std::size_t layer) override;
  void after_forward(std::size_t layer) override;
  void before_backward(std::size_t layer) override;
  void before_weight_gradient(std::size_t layer) override;
  void after_backward(std::size_t layer) override;

  void find_needs(Model& model);
  void make_pieces(const std::vector<std::vector<PieceOf>>& wholes);
  void acquire(std::size_t layer);
  void enter(std::size_t layer, std::optional<std::size_t> next);
  void leave(std::size_t layer);

  Comm& group_;
  ZeroOptions options_;
  std::vector<std::vector<Parameter*>> layers_;
  std::vector<Bucket> buckets_;
  FilledBuckets filled_;
  std::vector<std::vector<std::size_t>> needs_;  // buckets by layer: its own, and of the borrowed
  std::optional<ShardedParameters> values_;
  std::optional<ShardedGradients> gradients_;
  std::vector<ShardPiece> pieces_;
  std::vector<Parameter> parameters_;  // by piece
  bool reducing_ = false;              // this micro-batch
  bool ahead_ = false;                 // the next layer's parameters have been acquired
};

}  // namespace ringside
