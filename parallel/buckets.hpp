// The bucket layout of gradients: which tensors travel together, and in what order.
//
// Buckets come in backward order, because that is the order in which gradients are ready. A bucket
// holds whole tensors and closes before it would pass its limit; a larger tensor is a bucket alone.
// It spans layers (by size, as DDP's do, but for DDP's smaller first bucket) or holds tensors of
// one (by layer). Each is padded to a multiple of the group's size, so that chunk r of every bucket
// is rank r's shard: data parallelism and ZeRO share this one layout. (PyTorch DDP, VLDB 2020,
// section 3.2.)
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/parameter.hpp"
#include "runtime/units.hpp"

namespace ringside {

enum class BucketBy : std::uint8_t { size, layer };

// How gradients are cut into buckets.
struct BucketRules {
  Bytes limit{25 << 20};
  BucketBy by = BucketBy::size;
  std::size_t alignment = 1;  // elements; 1: a bucket is padded for the group alone
  // Layers that begin a bucket even by size: what is before them is another stage's, or reduced
  // over other ranks too (pipeline/bucket_borders.hpp).
  std::vector<std::size_t> borders{};
};

struct TensorInBucket {
  std::size_t layer = 0;
  std::size_t tensor = 0;  // index within the layer
  std::size_t first = 0;   // where it begins, in elements
};

struct Bucket {
  std::vector<TensorInBucket> tensors{};  // from the last layer to the first
  std::size_t count = 0;                  // elements without padding
  std::size_t padded = 0;                 // a multiple of the group's size and of the alignment
  std::string label{};                    // "grad.bucket.0"

  // Of its layers the one whose backward comes last.
  std::size_t last_layer() const { return tensors.back().layer; }
};

// Which of a model's parameters are meant; none: all.
using ParameterFilter = std::function<bool(const Parameter&)>;

// Elements of each tensor, by layer; 0 of one that does not learn or is not meant.
std::vector<std::vector<std::size_t>> counts_of(const std::vector<std::vector<Parameter*>>& layers,
                                                const ParameterFilter& meant = {});

// Bytes of an element of those that learn and are meant, which are of one type. Throws BadUse when
// none learns.
std::size_t element_size(const std::vector<std::vector<Parameter*>>& layers,
                         const ParameterFilter& meant = {});

// `tensor_counts`: elements of each tensor, by layer in forward order; one without any is in no
// bucket.
std::vector<Bucket> cut_buckets(const std::vector<std::vector<std::size_t>>& tensor_counts,
                                const BucketRules& rules, std::size_t element_size, int group_size);

}  // namespace ringside
