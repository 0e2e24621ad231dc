#include "parallel/sharded_parameters.hpp"

#include "collectives/all_gather.hpp"
#include "collectives/chunk.hpp"
#include "parallel/shard_map.hpp"

namespace ringside {

namespace {

std::string label_of(std::size_t bucket) {
  return "param.bucket." + std::to_string(bucket);
}

Parameter& tensor_of(const std::vector<std::vector<Parameter*>>& layers, const Bucket& bucket,
                     std::size_t i) {
  const TensorInBucket& in = bucket.tensors[i];
  return *layers[in.layer][in.tensor];
}

}  // namespace

ShardedParameters::ShardedParameters(Comm& group, DeviceMemory& memory,
                                     const std::vector<std::vector<Parameter*>>& layers,
                                     const std::vector<Bucket>& buckets, Options options)
    : group_(group),
      memory_(memory),
      layers_(layers),
      buckets_(buckets),
      options_(std::move(options)),
      gathered_(buckets.size()) {
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    const Bucket& bucket = buckets_[b];
    const DType dtype = tensor_of(layers_, bucket, 0).value.dtype();
    const Category category = options_.keep_whole ? Category::weights : Category::buffers;
    Tensor& whole = gathered_[b].whole;
    whole = Tensor(memory_, dtype, {bucket.padded}, category, label_of(b));
    auto& shapes = shapes_.emplace_back();
    for (std::size_t i = 0; i < bucket.tensors.size(); ++i) {
      Parameter& parameter = tensor_of(layers_, bucket, i);
      const Buffer value = parameter.value.buffer();
      group_.copy(value, whole.buffer().slice(bucket.tensors[i].first, value.count));
      shapes.push_back(parameter.value.shape());
      parameter.value = Tensor();
    }
    if (options_.keep_whole) {
      bind(b);
      continue;
    }
    shards_.emplace_back(memory_, dtype, std::vector{shard_size(bucket, group_.size())},
                         Category::weights, label_of(b) + ".shard");
    group_.copy(chunk(whole.buffer(), group_, group_.rank()), shards_.back().buffer());
    whole = Tensor();
  }
}

void ShardedParameters::bind(std::size_t b) const {
  const Bucket& bucket = buckets_[b];
  for (std::size_t i = 0; i < bucket.tensors.size(); ++i) {
    Parameter& parameter = tensor_of(layers_, bucket, i);
    parameter.value =
        gathered_[b].whole.view(bucket.tensors[i].first, shapes_[b][i], parameter.name);
  }
}

Tensor ShardedParameters::shard(std::size_t bucket) const {
  if (!options_.keep_whole) {
    return shards_[bucket];
  }
  const std::size_t size = shard_size(buckets_[bucket], group_.size());
  return gathered_[bucket].whole.view(size * static_cast<std::size_t>(group_.rank()), {size},
                                      label_of(bucket) + ".shard");
}

void ShardedParameters::launch(std::size_t bucket) {
  if (options_.fault == Fault::parameters_not_gathered && bucket + 1 == buckets_.size()) {
    return;
  }
  Gathered& gathered = gathered_[bucket];
  gathered.work = all_gather_async(group_, gathered.whole, {options_.all_gather, label_of(bucket)});
}

void ShardedParameters::acquire(std::size_t bucket) {
  Gathered& gathered = gathered_[bucket];
  if (options_.keep_whole || gathered.users++ > 0) {
    return;
  }
  const Tensor& shard = shards_[bucket];
  gathered.whole = Tensor(memory_, shard.dtype(), {buckets_[bucket].padded}, Category::buffers,
                          label_of(bucket));
  group_.copy(shard.buffer(), chunk(gathered.whole.buffer(), group_, group_.rank()));
  bind(bucket);
  launch(bucket);
}

void ShardedParameters::wait(std::size_t bucket) {
  gathered_[bucket].work.wait();
}

void ShardedParameters::release(std::size_t bucket) {
  Gathered& gathered = gathered_[bucket];
  if (options_.keep_whole || --gathered.users > 0) {
    return;
  }
  for (std::size_t i = 0; i < buckets_[bucket].tensors.size(); ++i) {
    tensor_of(layers_, buckets_[bucket], i).value = Tensor();
  }
  gathered.whole = Tensor();
}

void ShardedParameters::gather_updates() {
  if (!options_.keep_whole) {
    return;
  }
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    launch(b);
  }
  for (std::size_t b = 0; b < buckets_.size(); ++b) {
    wait(b);
  }
}

}  // namespace ringside
