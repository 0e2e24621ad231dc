#include "parallel/data_parallel.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "collectives/all_reduce.hpp"
#include "parallel/broadcast_weights.hpp"
#include "runtime/reduce.hpp"

namespace ringside {

namespace {

void zero(const std::vector<Tensor>& tensors) {
  for (const Tensor& tensor : tensors) {
    const Buffer data = tensor.buffer();
    if (data.stored() > 0) {
      std::memset(data.data, 0, data.bytes());
    }
  }
}

template <class T>
void forget_largest(std::span<T> gradients) {
  const auto largest = std::max_element(gradients.begin(), gradients.end(),
                                        [](T a, T b) { return std::abs(a) < std::abs(b); });
  *largest = 0;
}

}  // namespace

DataParallel::DataParallel(Comm& group, DeviceMemory& memory,
                           std::vector<std::vector<Parameter*>> layers, DataParallelOptions options)
    : group_(group),
      layers_(std::move(layers)),
      options_(std::move(options)),
      buckets_(cut_buckets(counts_of(layers_, options_.meant), options_.buckets,
                           element_size(layers_, options_.meant), group.size())),
      filled_(buckets_),
      ready_(buckets_.size()) {
  for (const Bucket& bucket : buckets_) {
    const TensorInBucket& front = bucket.tensors.front();
    const Tensor& storage =
        storage_.emplace_back(memory, layers_[front.layer][front.tensor]->value.dtype(),
                              std::vector{bucket.padded}, Category::gradients, bucket.label);
    if (options_.sync_every_microbatch) {
      sums_.emplace_back(memory, storage.dtype(), storage.shape(), Category::gradients,
                         bucket.label + ".sum");
    }
    for (const TensorInBucket& in : bucket.tensors) {
      Parameter& parameter = *layers_[in.layer][in.tensor];
      parameter.grad = storage.view(in.first, parameter.value.shape(), parameter.name + ".grad");
    }
  }
}

void DataParallel::broadcast_weights() {
  if (options_.fault == Fault::weights_not_broadcast) {
    return;
  }
  ringside::broadcast_weights(group_, layers_, options_.meant, options_.broadcast);
}

void DataParallel::begin_step() {
  zero(storage_);
  zero(sums_);
  expect_all();
}

void DataParallel::expect_all() {
  filled_.begin();
  ready_.assign(buckets_.size(), false);
  next_ = 0;
}

LayerHooks& DataParallel::begin_microbatch(int microbatch, int microbatches) {
  reducing_ = reduces(microbatch, microbatches);
  return reducing_ ? *this : none_;
}

void DataParallel::end_microbatch() {
  if (reducing_) {
    finish();
  }
}

// Buckets leave in their own order on every rank, whatever the order in which they become ready.
void DataParallel::layer_done(std::size_t layer) {
  if (options_.complete) {
    options_.complete(layer);
  }
  for (const std::size_t b : filled_.layer_done(layer)) {
    ready_[b] = true;
  }
  while (options_.overlap && next_ < buckets_.size() && ready_[next_]) {
    launch(next_++);
  }
}

void DataParallel::launch(std::size_t bucket) {
  const bool last = bucket + 1 == buckets_.size();
  if (last && options_.fault == Fault::last_bucket_dropped) {
    return;
  }
  const Tensor& gradients = storage_[bucket];
  if (bucket == 0 && options_.fault == Fault::contribution_lost && group_.rank() == 0) {
    gradients.dtype() == DType::f32 ? forget_largest(gradients.as<float>())
                                    : forget_largest(gradients.as<double>());
  }
  const std::string& label = buckets_[bucket].label;
  works_.push_back(
      options_.planted != nullptr
          ? all_reduce_async(group_, *options_.planted, gradients, ReduceOp::sum, label)
          : all_reduce_async(group_, gradients, ReduceOp::sum, choice(label)));
}

void DataParallel::finish() {
  while (next_ < buckets_.size()) {
    launch(next_++);
  }
  for (Work& work : works_) {
    work.wait();
  }
  works_.clear();
  for (std::size_t b = 0; b < sums_.size(); ++b) {
    reduce(storage_[b].buffer(), sums_[b].buffer(), ReduceOp::sum);
  }
  if (!sums_.empty()) {
    zero(storage_);
    expect_all();
  }
}

void DataParallel::end_step() {
  for (std::size_t b = 0; b < sums_.size(); ++b) {
    group_.copy(sums_[b].buffer(), storage_[b].buffer());
  }
}

std::int64_t DataParallel::sum(std::int64_t value, std::string_view label) {
  all_reduce(group_, buffer_of(std::span(&value, 1)), ReduceOp::sum, choice(label));
  return value;
}

double DataParallel::sum(double value, std::string_view label) {
  all_reduce(group_, buffer_of(std::span(&value, 1)), ReduceOp::sum, choice(label));
  return value;
}

}  // namespace ringside
