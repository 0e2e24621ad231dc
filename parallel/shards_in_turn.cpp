#include "parallel/shards_in_turn.hpp"

#include <algorithm>

#include "parallel/batch_share.hpp"

namespace ringside {

namespace {

// Gradients of one bucket, flat, padding included.
template <class T>
std::vector<T> gather(const Bucket& bucket, const std::vector<std::vector<Parameter*>>& layers) {
  std::vector<T> flat(bucket.padded);
  for (const TensorInBucket& in : bucket.tensors) {
    const auto grad = layers[in.layer][in.tensor]->grad.template as<T>();
    std::copy(grad.begin(), grad.end(), flat.begin() + static_cast<std::ptrdiff_t>(in.first));
  }
  return flat;
}

template <class T>
void scatter(const std::vector<T>& flat, const Bucket& bucket,
             const std::vector<std::vector<Parameter*>>& layers) {
  for (const TensorInBucket& in : bucket.tensors) {
    const auto grad = layers[in.layer][in.tensor]->grad.template as<T>();
    std::copy_n(flat.begin() + static_cast<std::ptrdiff_t>(in.first), grad.size(), grad.begin());
  }
}

template <class T>
std::vector<T> add_up(const std::vector<std::vector<T>>& by_shard, const Bracketing& order) {
  std::vector<T> sum(by_shard.front().size());
  std::vector<T> parts(by_shard.size());
  std::vector<T> stack;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    std::transform(by_shard.begin(), by_shard.end(), parts.begin(),
                   [i](const std::vector<T>& shard) { return shard[i]; });
    sum[i] = sum_in_order<T>(order.programs[order.program_of[i]], parts, stack);
  }
  return sum;
}

template <class T>
class ShardsInTurn {
 public:
  ShardsInTurn(const TrainingPlan& plan, const ShardsPlan& shards, Model& model)
      : plan_(plan), shards_(shards), model_(model), layers_(model.layers()) {
    buckets_ = cut_buckets(counts_of(layers_), shards.buckets, sizeof(T), shards.shards);
    for (const Bucket& bucket : buckets_) {
      orders_.push_back(shards.order ? shards.order(bucket.padded)
                                     : in_rank_order(bucket.padded, shards.shards));
    }
  }

  StepSum operator()(int step) {
    StepSum sum;
    std::vector<std::vector<std::vector<T>>> gradients(buckets_.size());  // [bucket][shard]
    for (int shard = 0; shard < shards_.shards; ++shard) {
      run_shard(step, shard, sum);
      for (std::size_t b = 0; b < buckets_.size(); ++b) {
        gradients[b].push_back(gather<T>(buckets_[b], layers_));
      }
    }
    for (std::size_t b = 0; b < buckets_.size(); ++b) {
      scatter(add_up(gradients[b], orders_[b]), buckets_[b], layers_);
    }
    return sum;
  }

 private:
  void run_shard(int step, int shard, StepSum& sum) {
    for (const Parameter* p : flatten(layers_)) {
      const auto grad = p->grad.template as<T>();
      std::fill(grad.begin(), grad.end(), T(0));
    }
    const BatchShare share{shard, shards_.shards, shards_.microbatches};
    for (int m = 0; m < shards_.microbatches; ++m) {
      const Batch batch = microbatch_of(plan_, share, step, m);
      sum.tokens += batch.tokens();
      sum.loss += model_.forward_backward(batch);
    }
  }

  const TrainingPlan& plan_;
  const ShardsPlan& shards_;
  Model& model_;
  std::vector<std::vector<Parameter*>> layers_;
  std::vector<Bucket> buckets_;
  std::vector<Bracketing> orders_;  // by bucket
};

}  // namespace

std::vector<StepRecord> train_shards_in_turn(const TrainingPlan& plan, const ShardsPlan& shards) {
  return train_in_one_process(plan, [&](Model& model) -> std::function<StepSum(int)> {
    if (dtype_of(plan.model) == DType::f64) {
      return ShardsInTurn<double>(plan, shards, model);
    }
    return ShardsInTurn<float>(plan, shards, model);
  });
}

}  // namespace ringside
