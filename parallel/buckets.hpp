// The bucket layout of gradients: which tensors travel together, and in what order.
//
// Buckets come in backward order, because that is the order in which gradients are ready. A bucket
// holds whole tensors of one layer and closes before it would pass its limit; a larger tensor is a
// bucket alone. Each is padded to a multiple of the group's size, so that chunk r of every bucket
// is rank r's shard: data parallelism and ZeRO share this one layout. (PyTorch DDP, VLDB 2020,
// section 3.2.)
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "models/parameter.hpp"
#include "runtime/units.hpp"

namespace ringside {

struct Bucket {
  std::size_t layer = 0;
  std::vector<std::size_t> tensors{};  // indices within the layer
  std::vector<std::size_t> firsts{};   // where each begins, in elements
  std::size_t count = 0;               // elements without padding
  std::size_t padded = 0;              // a multiple of the group's size and of the alignment
  std::string label{};                 // "grad.bucket.0"
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
// bucket. `alignment`: elements; 1: a
// bucket is padded for the group alone.
std::vector<Bucket> cut_buckets(const std::vector<std::vector<std::size_t>>& tensor_counts,
                                Bytes limit, std::size_t element_size, int group_size,
                                std::size_t alignment = 1);

}  // namespace ringside
