#include "parallel/sharded_gradients.hpp"

#include <cstring>

#include "collectives/chunk.hpp"
#include "collectives/reduce_scatter.hpp"
#include "models/tensor_elements.hpp"
#include "parallel/shard_map.hpp"
#include "runtime/reduce.hpp"

namespace ringside {

namespace {

void zero(const Tensor& tensor) {
  const Buffer data = tensor.buffer();
  if (data.stored() > 0) {
    std::memset(data.data, 0, data.bytes());
  }
}

Parameter& parameter_at(const std::vector<std::vector<Parameter*>>& layers,
                        const TensorInBucket& in) {
  return *layers[in.layer][in.tensor];
}

// Without a bucket there is nothing to be of it.
DType dtype_in(const std::vector<std::vector<Parameter*>>& layers,
               const std::vector<Bucket>& buckets) {
  return buckets.empty() ? DType::f32
                         : parameter_at(layers, buckets.front().tensors.front()).grad.dtype();
}

void divide(const Tensor& tensor, int divisor) {
  map_elements(tensor,
               [=](auto element) { return element / static_cast<decltype(element)>(divisor); });
}

}  // namespace

ShardedGradients::ShardedGradients(Comm& group, DeviceMemory& memory,
                                   const std::vector<std::vector<Parameter*>>& layers,
                                   const std::vector<Bucket>& buckets, Options options)
    : group_(group),
      memory_(memory),
      layers_(layers),
      buckets_(buckets),
      options_(std::move(options)),
      dtype_(dtype_in(layers, buckets)),
      whole_(buckets.size()),
      works_(buckets.size()),
      reducing_(buckets.size()) {
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const Bucket& bucket = buckets_[b];
    auto& shapes = shapes_.emplace_back();
    for (const TensorInBucket& in : bucket.tensors) {
      Parameter& parameter = parameter_at(layers_, in);
      shapes.push_back(parameter.grad.shape());
      parameter.grad = Tensor();
    }
    const std::size_t size = shard_size(bucket, group_.size());
    if (options_.keep_whole) {
      whole_[b] = Tensor(memory_, dtype_, {bucket.padded}, Category::gradients, bucket.label);
      bind(b);
      shards_.push_back(whole_[b].view(size * static_cast<std::size_t>(group_.rank()), {size},
                                       bucket.label + ".shard"));
    } else {
      shards_.emplace_back(memory_, dtype_, std::vector{size}, Category::gradients,
                           bucket.label + ".shard");
    }
  }
}

void ShardedGradients::bind(std::size_t b) const {
  const Bucket& bucket = buckets_[b];
  for (std::size_t i = 0; i < bucket.tensors.size(); ++i) {
    const TensorInBucket& in = bucket.tensors[i];
    Parameter& parameter = parameter_at(layers_, in);
    parameter.grad = whole_[b].view(in.first, shapes_[b][i], parameter.name + ".grad");
  }
}

void ShardedGradients::begin_step() {
  for (const Tensor& tensor : options_.keep_whole ? whole_ : shards_) {
    zero(tensor);
  }
}

void ShardedGradients::open(std::size_t bucket) {
  if (!whole_[bucket]) {
    whole_[bucket] = Tensor(memory_, dtype_, {buckets_[bucket].padded}, Category::buffers,
                            buckets_[bucket].label);
    bind(bucket);
  }
}

void ShardedGradients::reduce(std::size_t bucket) {
  works_[bucket] = reduce_scatter_async(group_, whole_[bucket], ReduceOp::sum,
                                        {options_.reduce_scatter, buckets_[bucket].label});
  reducing_[bucket] = true;
}

// Of the reduced bucket, into the shard.
void ShardedGradients::take(std::size_t bucket) {
  const bool wrong = options_.fault == Fault::shard_offset_wrong;
  const Buffer sum = chunk(whole_[bucket].buffer(), group_, group_.rank() + (wrong ? 1 : 0));
  const Buffer shard = shards_[bucket].buffer();
  if (!options_.keep_whole) {
    ringside::reduce(sum, shard, ReduceOp::sum);
  } else if (wrong) {
    group_.copy(sum, shard);
  }
  if (options_.fault == Fault::gradient_scaled) {
    divide(shards_[bucket], group_.size());
  }
}

void ShardedGradients::settle(std::size_t bucket) {
  if (!reducing_[bucket]) {
    return;
  }
  works_[bucket].wait();
  reducing_[bucket] = false;
  take(bucket);
  if (options_.keep_whole) {
    return;
  }
  for (const TensorInBucket& in : buckets_[bucket].tensors) {
    parameter_at(layers_, in).grad = Tensor();
  }
  whole_[bucket] = Tensor();
}

}  // namespace ringside
