#include "parallel/buckets.hpp"

#include <algorithm>
#include <numeric>

#include "runtime/errors.hpp"

namespace ringside {

namespace {

void close(std::vector<Bucket>& buckets, Bucket& open, std::size_t multiple) {
  if (open.tensors.empty()) {
    return;
  }
  open.padded = (open.count + multiple - 1) / multiple * multiple;
  open.label = "grad.bucket." + std::to_string(buckets.size());
  buckets.push_back(open);
  open = {};
}

}  // namespace

std::vector<std::vector<std::size_t>> counts_of(const std::vector<std::vector<Parameter*>>& layers,
                                                const ParameterFilter& meant) {
  std::vector<std::vector<std::size_t>> counts;
  for (const auto& layer : layers) {
    auto& row = counts.emplace_back();
    for (const Parameter* parameter : layer) {
      const bool counts_here = parameter->trainable && (!meant || meant(*parameter));
      row.push_back(counts_here ? parameter->value.count() : 0);
    }
  }
  return counts;
}

std::size_t element_size(const std::vector<std::vector<Parameter*>>& layers,
                         const ParameterFilter& meant) {
  bool learns = false;
  for (const auto& layer : layers) {
    for (const Parameter* parameter : layer) {
      learns = learns || parameter->trainable;
      if (parameter->trainable && (!meant || meant(*parameter))) {
        return size_of(parameter->value.dtype());
      }
    }
  }
  if (learns) {
    return 1;  // of no bucket
  }
  throw BadUse("a model of " + std::to_string(layers.size()) +
               " layers has no parameter that learns: there is nothing to reduce");
}

std::vector<Bucket> cut_buckets(const std::vector<std::vector<std::size_t>>& tensor_counts,
                                const BucketRules& rules, std::size_t element_size,
                                int group_size) {
  const std::size_t multiple = std::lcm(static_cast<std::size_t>(group_size), rules.alignment);
  const std::size_t most = static_cast<std::size_t>(rules.limit.count) / element_size;
  std::vector<Bucket> buckets;
  Bucket open;
  for (std::size_t layer = tensor_counts.size(); layer-- > 0;) {
    for (std::size_t t = 0; t < tensor_counts[layer].size(); ++t) {
      const std::size_t count = tensor_counts[layer][t];
      if (count == 0) {
        continue;
      }
      if (open.count + count > most) {
        close(buckets, open, multiple);
      }
      open.tensors.push_back({.layer = layer, .tensor = t, .first = open.count});
      open.count += count;
    }
    if (rules.by == BucketBy::layer || std::ranges::count(rules.borders, layer) > 0) {
      close(buckets, open, multiple);
    }
  }
  close(buckets, open, multiple);
  return buckets;
}

}  // namespace ringside
